package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/format/table"
	"nmn/internal/rng"
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

// Every file is written, and rates of single labels differ from the rates of all labels together.
func TestAuditAnnotators_WritesWhatItFinds(t *testing.T) {
	path, _ := crowdFile(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	q01 := func(args ...string) any {
		found := readJSON(t, must(t, append([]string{"audit", "annotators", "--labels", path, "--json"}, args...)...))
		return found["annotators"].([]any)[0].(map[string]any)["q01"]
	}
	if q01() == q01("--by-label", "--annotators", at("a.csv"), "--output", at("l.jsonl"), "--consensus", at("c.jsonl"),
		"--evidence", at("e.npy")) {
		t.Error("--by-label changes nothing")
	}
	for name, begins := range map[string]string{"a.csv": "annotator,", "l.jsonl": `{"sample":"bag`,
		"c.jsonl": `{"path":"bag`, "e.npy": "\x93NUMPY"} {
		if text := read(t, at(name)); !strings.HasPrefix(text, begins) {
			t.Errorf("%s begins with %.80q", name, text)
		}
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
