package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/durable"
	"nmn/internal/expect"
	"nmn/run"
	runpage "nmn/run/page"
)

func TestEval_OfARunEqualsItsResult(t *testing.T) {
	t.Parallel()
	dir := trainedArm(t, "nmn-fd")
	var whole struct {
		Evaluation json.RawMessage
	}
	data := readBytes(t, filepath.Join(dir, run.ResultFile))
	expect.OK(t, json.Unmarshal(data, &whole))
	want := readJSON(t, string(whole.Evaluation))
	got := readJSON(t, must(t, "eval", dir, "--json"))
	for _, key := range []string{"truth", "human", "transition", "by_class"} {
		a, _ := json.Marshal(got[key])
		b, _ := json.Marshal(want[key])
		if string(a) != string(b) || got[key] == nil {
			t.Errorf("%s: %.200s, the run has %.200s", key, a, b)
		}
	}
	wantParts(t, must(t, "eval", dir, "--split", "train", "--classes", "3"), "human AP", "q01")
	wantUsage(t, call(t, "eval", dir, "--counts", "x.csv"), "--scores")
	wantUsage(t, call(t, "eval", filepath.Dir(dir)), "last.safetensors")
}

// TestEval_ScoresWithAKnownAnswer: one word, counts 5 0 1 2 0, scores .9 .8 .7 .6 .1.
func TestEval_ScoresWithAKnownAnswer(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		write(t, path, text)
		return path
	}
	scores := write("scores.csv", "id,dog\na,0.9\nb,0.8\nc,0.7\nd,0.6\ne,0.1\n")
	counts := write("counts.csv", "id,dog\ne,0\nd,2\nc,1\nb,0\na,5\n")
	labels := write("labels.csv", "dog\n1\n0\n1\n1\n0\n")
	v := readJSON(t, must(t, "eval", "--scores", scores, "--counts", counts, "--captions-per-sample", "5",
		"--labels", labels, "--json"))
	human := v["human"].(map[string]any)
	for name, want := range map[string]float64{"ap": .9407895, "human_precision": .956522, "human_recall": .6875,
		"precision_at_human_recall": .8} {
		if got := human[name].(map[string]any)["All"].(float64); math.Abs(got-want) > 1e-6 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	c := call(t, "eval", "--scores", write("bad.csv", "dog\nNaN\n0\n0\n0\n0\n"), "--labels", labels)
	wantFailure(t, c, "bad.csv")
	c = call(t, "eval", "--scores", scores, "--labels", counts)
	wantFailure(t, c, "counts.csv")
}

func TestPredict_AllFormatsAgree(t *testing.T) {
	t.Parallel()
	dir := trainedArm(t, "nmn-fi")
	folder := filepath.Join(t.TempDir(), "scenes")
	must(t, "scenes", "--number", "6", "--split", "test", folder)
	write(t, filepath.Join(folder, "images", "broken.jpg"), "no picture")
	c := call(t, "predict", dir, folder, "--json", "--threshold", "0")
	var pictures []predicted
	if err := json.Unmarshal([]byte(c.out), &pictures); err != nil || c.code != exitOK {
		t.Fatalf("%v, %d, %s", err, c.code, c.err)
	}
	pictures = slices.DeleteFunc(pictures, func(p predicted) bool { return p.Skipped }) // captions in the folder
	broken := filepath.Join(folder, "images", "broken.jpg")
	if len(pictures) != 6 || !strings.Contains(c.err, "1 of 7 pictures") || !strings.Contains(c.err, broken) ||
		!strings.Contains(c.err, "no picture of a known format") {
		t.Fatalf("%d pictures, want 6; %q, want the one that is broken, and why", len(pictures), c.err)
	}
	wantFailure(t, call(t, "predict", dir, broken), broken, "no picture of a known format")
	for _, p := range pictures {
		if len(p.Words) != 36 || p.Words[0].Probability < p.Words[35].Probability {
			t.Errorf("%s: %d words, or not in order", p.Picture, len(p.Words))
		}
	}
	text := must(t, "predict", dir, folder, "--top", "1")
	if want := pictures[0].Picture + ": " + pictures[0].Words[0].Word; !strings.HasPrefix(text, want) {
		t.Errorf("text %.100q, want it to start with %q", text, want)
	}
	table := must(t, "predict", dir, folder, "--format", "csv")
	if lines := strings.Split(strings.TrimSpace(table), "\n"); len(lines) != 7 ||
		!strings.HasPrefix(lines[0], "id,ball,box,") {
		t.Errorf("CSV of %d lines, header %.40q", len(lines), lines[0])
	}
	if observed := must(t, "predict", dir, folder, "--format", "csv", "--observed"); observed == table {
		t.Error("p(z=1) equals p(y=1) in a model with noise")
	}
	wantUsage(t, call(t, "predict", dir, t.TempDir()), "no picture")
}

// TestPredict_ScoresOfScenesJoinTheirTruth holds the commands to each other: the names of pictures in
// what one writes are those in what the other wrote.
func TestPredict_ScoresOfScenesJoinTheirTruth(t *testing.T) {
	t.Parallel()
	dir := trainedArm(t, "nmn-fi")
	folder := filepath.Join(t.TempDir(), "scenes")
	must(t, "scenes", "--number", "12", "--split", "test", folder)
	images := filepath.Join(folder, "images")
	scores := filepath.Join(t.TempDir(), "scores.csv")
	write(t, scores, must(t, "predict", dir, images, "--format", "csv"))
	v := readJSON(t, must(t, "eval", "--scores", scores, "--truth", filepath.Join(folder, "truth.csv"), "--json"))
	if v["samples"].(float64) != 12 {
		t.Errorf("%v pictures, want 12", v["samples"])
	}
	first := filepath.Join(images, "COCO_test2014_000000000001.jpg")
	wantParts(t, must(t, "predict", dir, first, "--format", "csv"), "\n"+first+",")
}

func TestPredict_FollowsLinksInAFolder(t *testing.T) {
	t.Parallel()
	dir := trainedArm(t, "nmn-fi")
	folder, links := filepath.Join(t.TempDir(), "scenes"), t.TempDir()
	must(t, "scenes", "--number", "1", folder)
	if err := os.Symlink(filepath.Join(folder, "images", "COCO_train2014_000000000001.jpg"),
		filepath.Join(links, "a.jpg")); err != nil {
		t.Skipf("no links here: %v", err)
	}
	expect.OK(t, os.Symlink("b.jpg", filepath.Join(links, "b.jpg")))
	c := call(t, "predict", dir, links, "--top", "1")
	if c.code != exitOK || !strings.HasPrefix(c.out, filepath.Join(links, "a.jpg")) || !strings.Contains(c.err, "b.jpg") {
		t.Errorf("exit code %d, %q, %q; want a.jpg, and b.jpg left out", c.code, c.out, c.err)
	}
}

func TestExperiment_SecondCallRunsNothing(t *testing.T) {
	t.Parallel()
	skipShort(t, "trains many runs")
	dir := filepath.Join(t.TempDir(), "experiment")
	args := tiny("experiment", "--size", "quick", "--run-dir", dir, "--arms", "baseline,nmn-fd",
		"--replace-captions", "0.2,0.4", "--seeds", "1,2")
	first := call(t, args...)
	if first.code != exitOK {
		t.Fatalf("exit code %d: %s", first.code, first.err)
	}
	runs, err := filepath.Glob(filepath.Join(dir, "*", "*", "*", run.ResultFile))
	if err != nil || len(runs) != 2*2*3 {
		t.Errorf("%d runs (%v), want two noise levels, two seeds, and stage 1 with two arms", len(runs), err)
	}
	wantParts(t, first.out, "baseline", "NMN-FD", "20       baseline", "40       baseline", "AP (truth)",
		"informed start", "Paired")
	index := read(t, dir, run.IndexFile)
	for _, link := range []string{"noise-20/seed-1/nmn-fd/report.html", "noise-40/seed-2/baseline/report.html"} {
		if !strings.Contains(index, `<a href="`+link+`">`) || !durable.Exists(filepath.Join(dir, link)) {
			t.Errorf("the page of the experiment does not lead to %s", link)
		}
	}
	if n := strings.Count(index, "<a href="); n != 2*2*2 {
		t.Errorf("%d links, want one for each run of the table", n)
	}
	// At each level both arms are shown with each picture, at the first seed.
	if n, says := strings.Count(index, `<article class="says">`), strings.Count(index,
		"<h3>"); n != 2*(runpage.ComparedByChance+runpage.ComparedApart) || says != 2*n ||
		strings.Count(index, "data:image/jpeg") != n || strings.Count(index, `id="arms-`) == 0 ||
		!strings.Contains(index, "noise 40 %, seed 1") || strings.Contains(index, "%, seed 2") {
		t.Errorf("%d bags with the words of %d arms, %d pictures", n, says, strings.Count(index, "data:image/jpeg"))
	}
	before := modified(t, runs)
	second := call(t, args...)
	reused := dir + ": 12 of 12 runs are complete; their results are shown, and they were not trained again\n"
	if second.out != first.out || !strings.HasPrefix(second.err, reused) || strings.Contains(second.err, "epoch") {
		t.Errorf("the second call gave another table, or told of training: %s", second.err)
	}
	for i, when := range modified(t, runs) {
		if when != before[i] {
			t.Errorf("%s was written again", runs[i])
		}
	}
	expect.OK(t, os.Remove(runs[0]))
	if third := call(t, args...); third.out != first.out {
		t.Error("a run that was evaluated again gave another table")
	}
	if tables := readTables(t, must(t, append(args, "--json")...)); len(tables) != 3 {
		t.Errorf("JSON of %d tables", len(tables))
	}
	wantUsage(t, call(t, append(args, "--learning-rate", "1")...), "learning_rate")
}

func modified(t *testing.T, files []string) (when []int64) {
	t.Helper()
	for _, file := range files {
		info, err := os.Stat(file)
		expect.OK(t, err)
		when = append(when, info.ModTime().UnixNano())
	}
	return when
}
