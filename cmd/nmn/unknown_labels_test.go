package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/format/npy"
	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/train"
)

// partlyLabelled writes features of 240 rows. Three files have their labels with about half of them unknown, each in
// another form, and known.csv has all labels.
func partlyLabelled(t *testing.T) (path func(string) string) {
	t.Helper()
	dir := t.TempDir()
	path = func(name string) string { return filepath.Join(dir, name) }
	s := rng.New(17)
	var x, known, empty, minus bytes.Buffer
	x.WriteString("a,b,c,d\n")
	for _, b := range []*bytes.Buffer{&known, &empty, &minus} {
		b.WriteString("cat,dog,sun\n")
	}
	const rows, k = 240, 3
	array := npy.Int8Header(rows, k)
	for range rows {
		var v [4]float64
		for i := range v {
			v[i] = s.Normal(0, 1)
		}
		fmt.Fprintf(&x, "%g,%g,%g,%g\n", v[0], v[1], v[2], v[3])
		var all, gaps, ones []string
		for c := range k {
			z, on := "0", byte(0)
			if v[c]+.3*v[3] > .2 {
				z, on = "1", 1
			}
			all = append(all, z)
			if s.Intn(2) == 0 {
				gaps, ones, array = append(gaps, ""), append(ones, "-1"), append(array, 255)
				continue
			}
			gaps, ones, array = append(gaps, z), append(ones, z), append(array, on)
		}
		for _, of := range []struct {
			b     *bytes.Buffer
			cells []string
		}{{&known, all}, {&empty, gaps}, {&minus, ones}} {
			of.b.WriteString(strings.Join(of.cells, ",") + "\n")
		}
	}
	for name, content := range map[string][]byte{"x.csv": x.Bytes(), "known.csv": known.Bytes(),
		"empty.csv": empty.Bytes(), "minus.csv": minus.Bytes(), "array.npy": array} {
		write(t, path(name), content)
	}
	return path
}

// Every arm that can leaves out unknown labels, in all forms of unknown.
func TestTrain_UnknownLabelsOfFeatures(t *testing.T) {
	t.Parallel()
	skipShort(t, "trains several runs")
	path := partlyLabelled(t)
	args := func(labels, arm, dir string, more ...string) []string {
		return append([]string{"train", path("x.csv"), "--labels", path(labels), "--arm", arm, "--run-dir", dir, "-q",
			"--set", "net.hidden=[8]", "--set", "train.stage1_epochs=6", "--set", "train.stage2_epochs=3", "--batch-size", "16",
			"--learning-rate", "0.02", "--set", "data.validation_share=0.2", "--set", "data.test_share=0.2"}, more...)
	}
	words, err := os.ReadFile(path("minus.csv"))
	expect.OK(t, err)
	absent := bytes.ReplaceAll(words, []byte("-1"), []byte("0"))
	write(t, path("absent.csv"), absent)
	for _, arm := range []string{"stage1", "held-rates", "soft-labels", "nmn-fi", "nmn-fd", "asl", "ll-r", "pruned"} {
		t.Run(arm, func(t *testing.T) {
			more := []string{"--set", "train.patience=0"}
			if arm == "held-rates" || arm == "soft-labels" || arm == "pruned" {
				more = append(more, "--set", "recipe.form=estimate", "--noise-rates", "folds:3", "--set", "recipe.fold_epochs=4")
			}
			learned := map[string][]byte{}
			forms := []string{"empty.csv", "absent.csv"}
			if arm == "stage1" { // labels are read before any arm learns them
				forms = append(forms, "minus.csv", "array.npy")
			}
			for _, labels := range forms {
				dir := filepath.Join(t.TempDir(), "run")
				must(t, append(args(labels, arm, dir), more...)...)
				learned[labels] = withoutHeader([]byte(must(t, "predict", dir, path("x.csv"), "--format", "csv")))
				if labels == "empty.csv" {
					if ap := labelAP(t, must(t, "eval", dir, "--json")); ap < .8 {
						t.Errorf("AP %v: half of the labels tell as much", ap)
					}
				}
			}
			for _, labels := range forms {
				if same := bytes.Equal(learned[labels], learned["empty.csv"]); same != (labels != "absent.csv") {
					t.Errorf("%s is learned as empty.csv is: %t", labels, same)
				}
			}
		})
	}
	dir := filepath.Join(t.TempDir(), "run")
	for says, more := range map[string][]string{
		"arm em needs every label": args("empty.csv", "em", dir),
		"has unknown labels":       args("empty.csv", "baseline", dir, "--flips", "0.2:0.1"),
	} {
		wantUsage(t, call(t, more...), says)
	}
}

// withoutHeader is a table without its first line: arrays have no words.
func withoutHeader(table []byte) []byte {
	_, rows, _ := bytes.Cut(table, []byte("\n"))
	return rows
}

// An audit asks of known labels alone, and what it writes leaves the others unknown.
func TestAudit_UnknownLabelsOfFeatures(t *testing.T) {
	t.Parallel()
	path := partlyLabelled(t)
	for _, labels := range []string{"empty.csv", "array.npy"} {
		dir := filepath.Join(t.TempDir(), "run")
		must(t, "train", path("x.csv"), "--labels", path(labels), "--run-dir", dir, "-q", "--set", "net.hidden=[8]",
			"--set", "train.stage1_epochs=6", "--batch-size", "16", "--learning-rate", "0.02",
			"--set", "data.validation_share=0", "--set", "data.test_share=0", "--set", "train.patience=0",
			"--set", "recipe.form=estimate", "--arm", "held-rates", "--noise-rates", "folds:3", "--set", "recipe.fold_epochs=6")
		v := readJSON(t, must(t, "audit", dir, "--min-error", "0", "--top", "1000", "--json"))
		if known, suspects := 3*240-unknownOf(t, path("x.csv"), path(labels)), v["suspects"].([]any); len(suspects) != known {
			t.Errorf("%s: %d suspects of %d known labels", labels, len(suspects), known)
		}
		output := filepath.Join(t.TempDir(), "fixed.csv")
		must(t, "audit", dir, "--apply=force", "--precision", "0.5", "--output", output, "-q")
		again := filepath.Join(t.TempDir(), "again")
		must(t, "train", path("x.csv"), "--labels", output, "--run-dir", again, "-q", "--set", "net.hidden=[8]",
			"--set", "train.stage1_epochs=1", "--arm", "stage1", "--set", "data.validation_share=0", "--set",
			"data.test_share=0", "--set", "train.patience=0")
		if got, want := unknownOf(t, path("x.csv"), output), unknownOf(t, path("x.csv"), path(labels)); got != want ||
			want < 300 {
			t.Errorf("%s: %d labels are unknown in what the audit wrote, %d before", labels, got, want)
		}
		if _, err := os.Stat(filepath.Join(again, train.LastName)); err != nil {
			t.Error(err)
		}
	}
}

// unknownOf returns the number of unknown labels of features.
func unknownOf(t *testing.T, features, labels string) int {
	t.Helper()
	n, _ := readJSON(t, must(t, "features", features, "--labels", labels, "--json"))["unknown_labels"].(float64)
	return int(n)
}
