package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/durable"
	"nmn/run"
)

// onRunOfScenes is the folder of a run on pictures, of whose labels every tenth is wrong.
func onRunOfScenes(t *testing.T, args ...string) string {
	t.Helper()
	return audited(t, append(onPictures("--manifest", manifestOf(t, 40, "path,labels", func(i int) string {
		return fmt.Sprintf("%d.png,%s", i, colours[(i+i%10/9)%3])
	})), args...)...)
}

// copied is a folder of the same name with the same files.
func copied(t *testing.T, dir string) string {
	t.Helper()
	there := filepath.Join(t.TempDir(), filepath.Base(dir))
	if err := os.CopyFS(there, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return there
}

// An audit on ranks writes and prints what one process does, to the byte.
func TestRanks_AuditARunAsOneProcessDoes(t *testing.T) {
	model := onRunOfScenes(t)
	must(t, "audit", model, "--rates", "folds:2", "--fold-epochs", "3", "-q")
	audit := func(n int) (printed string, files map[string]string) {
		dir := copied(t, model)
		out := t.TempDir()
		t.Chdir(out)
		if err := os.RemoveAll(filepath.Join(dir, run.AuditFolder, "audit.html")); err != nil {
			t.Fatal(err)
		}
		args := []string{"audit", dir, "--min-error", "0.01", "--json", "--suspects", "suspects.csv", "--rows", "rows.jsonl",
			"--apply=force", "--precision", "0.1", "--output", "fixed.csv"}
		if n == 0 {
			printed = must(t, args...)
		} else {
			printed = mustOnRanks(t, n, args...)
		}
		files = map[string]string{"audit.html": read(t, filepath.Join(dir, run.AuditFolder, "audit.html"))}
		for _, name := range filesOf(t, out) {
			files[name] = strings.ReplaceAll(read(t, filepath.Join(out, name)), dir, "RUN")
		}
		return strings.ReplaceAll(printed, dir, "RUN"), files
	}
	want, wanted := audit(0)
	if len(wanted) != 6 || !strings.Contains(wanted["audit.html"], "data:image/jpeg") {
		t.Fatalf("one process writes %d files", len(wanted))
	}
	for n := 1; n <= 3; n++ {
		got, files := audit(n)
		if got != want {
			t.Errorf("%d ranks print\n%s\nwant\n%s", n, got, want)
		}
		for name, content := range wanted {
			if files[name] != content {
				t.Errorf("%d ranks write another %s", n, name)
			}
		}
		if len(files) != len(wanted) {
			t.Errorf("%d ranks write %d files, one process %d", n, len(files), len(wanted))
		}
	}
}

// Nets of folds are trained by all ranks, and their scores, which rank 0 keeps, are good for any number of them.
func TestRanks_TrainTheFoldsOfAnAudit(t *testing.T) {
	one := onRunOfScenes(t, "--optimizer", "sgd")
	three := copied(t, one)
	folds := []string{"--rates", "folds:2", "--fold-epochs", "2", "--min-error", "0.01", "-q"}
	must(t, append([]string{"audit", one}, folds...)...)
	mustOnRanks(t, 3, append([]string{"audit", three}, folds...)...)
	of := func(dir string) string { return filepath.Join(dir, run.AuditFolder) }
	if got, want := filesOf(t, of(three)), filesOf(t, of(one)); !slices.Equal(got, want) {
		t.Errorf("three ranks leave %v, one process %v", got, want)
	}
	fold := filepath.Join("folds-2", "stage1", "fold-1")
	nearWeights(t, "fold 1", filepath.Join(of(three), fold), filepath.Join(of(one), fold))
	if alone, onTwo := must(t, "audit", three, "--json"), mustOnRanks(t, 2, "audit", three, "--json"); alone != onTwo {
		t.Errorf("two ranks print\n%s\none process\n%s", onTwo, alone)
	}
}

func TestRanks_RefuseWhatCannotBeAudited(t *testing.T) {
	model := onRunOfScenes(t)
	for want, args := range map[string][]string{
		"holds out-of-fold scores of": {"audit", model},
		"holds no run":                {"audit", t.TempDir()},
		"which the run has learned":   {"audit", model, "--rates", "folds:2", "--apply", "--output", manifestFileOf(t, model)},
	} {
		for rank, c := range callOnRanks(t, 2, args...) {
			if c.code != exitUsage || c.out != "" || (c.err != "") != (rank == 0) || rank == 0 && !strings.Contains(c.err, want) {
				t.Errorf("%v, rank %d: exit code %d, %q, want %q", args, rank, c.code, c.err, want)
			}
		}
	}
	if durable.Exists(filepath.Join(model, run.AuditFolder)) {
		t.Error("what is refused has made a folder")
	}
}

// manifestFileOf is the manifest that a run has learned from.
func manifestFileOf(t *testing.T, dir string) string {
	t.Helper()
	c, err := run.ReadConfig(dir)
	if err != nil {
		t.Fatal(err)
	}
	return c.Data.Manifest
}
