package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/format/table"
	"nmn/internal/rng"
	"nmn/loader/manifest"
)

// crowdFile is a file of 200 bags with three words, labelled by four of eight annotators each; the last annotator
// guesses. truth holds whether a word is there, by bag and word.
func crowdFile(t *testing.T) (path string, truth map[string]bool) {
	t.Helper()
	const bags, annotators = 200, 8
	s, truth := rng.New(5), map[string]bool{}
	var b strings.Builder
	b.WriteString("picture,annotator,labels\n")
	for i := range bags {
		bag := fmt.Sprintf("bag%d.jpg", i)
		for c, word := range []string{"cat", "dog", "fog"} {
			truth[bag+" "+word] = s.Float64() < .2+.1*float64(c)
		}
		who := make([]int, annotators)
		for j := range who {
			who[j] = j
		}
		s.Shuffle(who)
		for _, j := range who[:4] {
			q01, q10 := .1+.05*float64(j), .02
			if j == annotators-1 {
				q01, q10 = .6, .4
			}
			var given []string
			for _, word := range []string{"cat", "dog", "fog"} {
				if u := s.Float64(); truth[bag+" "+word] && u >= q01 || !truth[bag+" "+word] && u < q10 {
					given = append(given, word)
				}
			}
			fmt.Fprintf(&b, "%s,ann%d,%s\n", bag, j, strings.Join(given, ";"))
		}
	}
	path = filepath.Join(t.TempDir(), "crowd.csv")
	write(t, path, b.String())
	return path, truth
}

func TestAuditAnnotators_TableIsGolden(t *testing.T) {
	path, _ := crowdFile(t)
	golden(t, "audit_annotators.txt", must(t, "audit", "annotators", "--labels", path, "--top", "5"))
}

func TestAuditAnnotators_FindsTheGuesserAndWritesLabels(t *testing.T) {
	path, truth := crowdFile(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	v := readJSON(t, must(t, "audit", "annotators", "--labels", path, "--annotators", at("a.csv"), "--output",
		at("l.jsonl"), "--consensus", at("c.jsonl"), "--evidence", at("e.npy"), "--json"))
	for _, item := range v["annotators"].([]any) {
		a := item.(map[string]any)
		guesses := a["annotator"] == "ann7"
		if remarks := fmt.Sprint(a["remarks"]); strings.Contains(remarks, "no better than chance") != guesses {
			t.Errorf("%v: %s", a["annotator"], remarks)
		}
		if guesses != (a["informedness"].(float64) < .2) {
			t.Errorf("%v", a)
		}
	}
	if text := read(t, at("a.csv")); strings.Count(text, "\n") != 9 || !strings.Contains(text, "no better than chance") {
		t.Errorf("annotators:\n%s", text)
	}
	m, err := manifest.Read(t.Context(), at("c.jsonl"), manifest.Options{})
	check(t, err)
	right, all := 0, 0
	for _, row := range m.Rows {
		for _, k := range row.Labels {
			if all++; truth[row.ID+" "+m.Labels[k]] {
				right++
			}
		}
	}
	if consensus := v["consensus"].(map[string]any); float64(all) != consensus["labels"] ||
		float64(right) < .9*float64(all) {
		t.Errorf("%d of %d labels of the manifest are right, %v", right, all, consensus)
	}
	evidence, err := table.ReadScores(at("e.npy"), true)
	if err != nil || evidence.Rows != 200 || evidence.Cols != 3 {
		t.Errorf("evidence: %v", err)
	}
	if text := read(t, at("l.jsonl")); !strings.HasPrefix(text, `{"sample":"bag`) {
		t.Errorf("labels: %.200s", text)
	}
}

func TestAuditAnnotators_ByLabel(t *testing.T) {
	path, _ := crowdFile(t)
	whole := readJSON(t, must(t, "audit", "annotators", "--labels", path, "--json"))
	parts := readJSON(t, must(t, "audit", "annotators", "--labels", path, "--by-label", "--json"))
	for j, item := range parts["annotators"].([]any) {
		a, b := item.(map[string]any), whole["annotators"].([]any)[j].(map[string]any)
		if a["q01"] == b["q01"] || math.Abs(a["q01"].(float64)-b["q01"].(float64)) > .1 || a["samples"] != b["samples"] ||
			a["given"] != b["given"] {
			t.Errorf("by label %v, all labels together %v", a, b)
		}
	}
}

// If labels exclude each other, every bag has one label, and bags without answers have none.
func TestAuditAnnotators_OneLabelEach(t *testing.T) {
	var b strings.Builder
	b.WriteString("picture,annotator,labels\n")
	for i := range 60 {
		for j, name := range []string{"ann lee", "bob  o", "lazy", "dan"} {
			label := []string{"red fox", "owl", "cat"}[i%3]
			if (i+j)%7 == 0 {
				label = []string{"red fox", "owl", "cat"}[(i+1)%3]
			}
			if name == "lazy" {
				label = "owl"
			}
			fmt.Fprintf(&b, "picture %d,%s,%s\n", i, name, label)
		}
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write(t, at("z.csv"), b.String())
	write(t, at("ids.txt"), "picture 77\n"+strings.Join(func() (ids []string) {
		for i := range 60 {
			ids = append(ids, fmt.Sprintf("picture %d", i))
		}
		return ids
	}(), "\n"))
	text := must(t, "audit", "annotators", "--labels", at("z.csv"), "--samples", at("ids.txt"), "--consensus", at("c.csv"))
	for _, says := range []string{"Every answer has exactly one label", "60 samples have their most probable label",
		"No annotator answered 1 of 61 samples"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), says) {
			t.Errorf("%q is not in\n%s", says, text)
		}
	}
	want := "id,owl,red fox,cat\npicture 77,,,\n" // labels in the order in which they are met
	for i := range 60 {
		want += fmt.Sprintf("picture %d,%s\n", i, []string{"0,1,0", "1,0,0", "0,0,1"}[i%3])
	}
	if got := read(t, at("c.csv")); got != want {
		t.Errorf("consensus\n%s", got)
	}
	v := readJSON(t, must(t, "audit", "annotators", "--labels", at("z.csv"), "--json"))
	lazy := v["annotators"].([]any)[2].(map[string]any)
	if v["exclusive"] != true || !strings.Contains(fmt.Sprint(lazy["remarks"]), "no better than chance") {
		t.Errorf("exclusive %v, %v", v["exclusive"], lazy)
	}
}

// The consensus trains a head: nmn train takes its file with features in the order of --samples.
func TestAuditAnnotators_ConsensusTrains(t *testing.T) {
	path, truth := crowdFile(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	var ids, features strings.Builder
	features.WriteString("id,x1,x2,x3\n")
	for i := range 205 { // the last five have no labels
		bag := fmt.Sprintf("bag%d.jpg", i)
		fmt.Fprintln(&ids, bag)
		features.WriteString(bag)
		for _, word := range []string{"cat", "dog", "fog"} {
			x := 0
			if truth[bag+" "+word] {
				x = 1
			}
			fmt.Fprintf(&features, ",%d", x)
		}
		features.WriteString("\n")
	}
	write(t, at("ids.txt"), ids.String())
	write(t, at("x.csv"), features.String())
	must(t, "audit", "annotators", "--labels", path, "--samples", at("ids.txt"), "--consensus", at("z.csv"), "--evidence",
		at("e.csv"))
	evidence, err := table.ReadScores(at("e.csv"), true)
	if err != nil || evidence.Rows != 205 || evidence.IDs[204] != "bag204.jpg" || evidence.Values[3*204] != 0 {
		t.Errorf("evidence %v, %v", evidence, err)
	}
	if text := read(t, at("z.csv")); !strings.HasSuffix(text, "\nbag204.jpg,,,\n") {
		t.Errorf("the labels of a bag that nobody answered are known:\n...%s", text[len(text)-80:])
	}
	must(t, "train", at("x.csv"), "--labels", at("z.csv"), "--arm", "baseline", "--epochs", "1", "--set", "net.hidden=[4]",
		"--batch-size", "8", "--device", "cpu", "--threads", "1", "--run-dir", at("run"))
}

func TestAuditAnnotators_Mistakes(t *testing.T) {
	path, _ := crowdFile(t)
	for says, args := range map[string][]string{
		"needs --labels":          {},
		"--top is -1":             {"--labels", path, "--top", "-1"},
		"--logits belongs":        {"--labels", path, "--logits"},
		"exclude each other":      {"--labels", path, "--scores", "s.csv", "--samples", "b.txt"},
		"ends in .npy or .csv":    {"--labels", path, "--evidence", "e.txt"},
		"ends in .csv or .jsonl":  {"--labels", path, "--output", "l.parquet"},
		"--annotators is \"a\"":   {"--labels", path, "--annotators", "a"},
		"confidence 2":            {"--labels", path, "--confidence", "2"},
		"takes no argument":       {"--labels", path, "x"},
		"unknown flag: --suspect": {"--labels", path, "--suspect", "x"},
	} {
		wantUsage(t, call(t, append([]string{"audit", "annotators"}, args...)...), says)
	}
	one := filepath.Join(t.TempDir(), "one.csv")
	write(t, one, "picture,annotator,labels\na,x,cat\nb,y,\n")
	for says, args := range map[string][]string{
		"labels cannot be compared: give out-of-fold scores of a classifier (--scores)": {one},
		"no such file": {one + "x"},
		"is not one of the samples of the scores": {one, "--scores", written(t, "s.csv", "id,cat\na,.5\n")},
	} {
		c := call(t, append([]string{"audit", "annotators", "--labels"}, args...)...)
		if c.code != exitFailure || !strings.Contains(c.err, says) || c.out != "" {
			t.Errorf("exit code %d, %q, want %q", c.code, c.err, says)
		}
	}
	must(t, "audit", "annotators", "--labels", one, "--scores", written(t, "s.csv", "id,cat\na,.5\nb,.2\n"), "--format",
		"markdown")
	if entries, err := os.ReadDir(filepath.Dir(one)); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}
