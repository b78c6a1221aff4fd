package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/kernels"
	"nmn/labels"
	"nmn/loader/scenes"
	"nmn/recipe"
	"nmn/report"
	"nmn/run"
	"nmn/train"
)

func noiseReportOf(t *testing.T, args ...string) *report.NoiseReport {
	t.Helper()
	var r report.NoiseReport
	expect.OK(t, json.Unmarshal([]byte(must(t, append([]string{"noise", "report", "--json", "--device", "cpu"},
		args...)...)), &r))
	return &r
}

// writtenRates is the q.csv of a run, by word.
func writtenRates(t *testing.T, dir string) map[string]labels.Row {
	t.Helper()
	v, err := checkpointOf(t, dir).Vocabulary()
	expect.OK(t, err)
	list, err := labels.ReadFile(filepath.Join(dir, report.RatesFile), v, labels.Learnt)
	expect.OK(t, err)
	byWord := map[string]labels.Row{}
	for _, r := range list {
		byWord[r.Word] = r
	}
	return byWord
}

// holdTo compares the rates of a report with those that the run has written.
func holdTo(t *testing.T, r *report.NoiseReport, want map[string]labels.Row) {
	t.Helper()
	if len(r.Q01.Words) != len(want) || len(r.Q10.Words) != len(want) {
		t.Fatalf("%d and %d words, want %d", len(r.Q01.Words), len(r.Q10.Words), len(want))
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-7 || math.IsNaN(a) && math.IsNaN(b) }
	for i := range r.Q01.Words {
		a, b := r.Q01.Words[i], r.Q10.Words[i]
		if w := want[a.Word]; !near(float64(a.Rate), float64(w.Q01)) || !near(float64(a.True), float64(w.T01)) {
			t.Errorf("%s: q01 %g and T01 %g, want %g and %g", a.Word, a.Rate, a.True, w.Q01, w.T01)
		}
		if w := want[b.Word]; !near(float64(b.Rate), float64(w.Q10)) || !near(float64(b.True), float64(w.T10)) {
			t.Errorf("%s: q10 %g and T10 %g, want %g and %g", b.Word, b.Rate, b.True, w.Q10, w.T10)
		}
	}
}

func TestNoiseReport_OfFeatureIndependentRates(t *testing.T) {
	t.Parallel()
	dir := trainedArm(t, "nmn-fi")
	r := noiseReportOf(t, dir)
	holdTo(t, r, writtenRates(t, dir))
	if r.FeatureDependent || r.Q01.Words[0].Spread != nil || r.Q01.Departures != nil {
		t.Errorf("rates that are the same for all bags have a spread: %+v", r.Q01.Words[0])
	}
	if r.Q01.Words[0].Rate < r.Q01.Words[35].Rate {
		t.Error("the words are not in order of their rates")
	}
	page := filepath.Join(t.TempDir(), "noise.html")
	wantParts(t, must(t, "noise", "report", dir, "--classes", "3", "--output", page),
		"The table shows the first 3 of 36 classes.")
	content := readBytes(t, page)
	for word := range writtenRates(t, dir) {
		wantParts(t, string(content), ">"+word+"</th>")
	}
	// The rates are in the checkpoint: the data need not be there.
	alone := filepath.Join(t.TempDir(), "moved.safetensors")
	expect.OK(t, os.Rename(filepath.Join(dir, train.LastName), alone))
	if moved := noiseReportOf(t, alone); moved.Q01.Mean != r.Q01.Mean || moved.Q01.True.Defined() {
		t.Errorf("of the file alone: mean %g, truth %g; want %g and none", moved.Q01.Mean, moved.Q01.True, r.Q01.Mean)
	}
	wantUsage(t, call(t, "noise", "report", dir), train.LastName)
}

func TestNoiseReport_OfRatesThatDependOnTheBag(t *testing.T) {
	t.Parallel()
	dir := trainedArm(t, "nmn-fd")
	holdTo(t, noiseReportOf(t, dir, "--split", "test"), writtenRates(t, dir)) // as in q.csv
	r := noiseReportOf(t, dir, "--split", "validation", "--departures", "7")
	if r.Bags != 32 || r.Split != "validation" || len(r.Q10.Departures) != 7 {
		t.Fatalf("%d bags of %s, %d departures", r.Bags, r.Split, len(r.Q10.Departures))
	}
	values, ids := ratesOfBags(t, dir, "val", 32)
	for _, w := range r.Q01.Words {
		if column := values[w.Word]; w.Spread.Min != slices.Min(column) || w.Spread.Max != slices.Max(column) {
			t.Errorf("%s: %+v, want %g to %g", w.Word, w.Spread, slices.Min(column), slices.Max(column))
		}
	}
	farthest, at, word := 0.0, "", ""
	for _, w := range r.Q01.Words {
		for i, q := range values[w.Word] {
			if far := math.Abs(q - w.Spread.Mean); far > farthest {
				farthest, at, word = far, ids[i], w.Word
			}
		}
	}
	if d := r.Q01.Departures[0]; d.ID != at || d.Word != word {
		t.Errorf("%s departs most at %s, want %s at %s", d.Word, d.ID, word, at)
	}
}

// ratesOfBags asks the net of a run for q01 of each bag of some scenes, by word.
func ratesOfBags(t *testing.T, dir, split string, n int) (values map[string][]float64, ids []string) {
	t.Helper()
	backend, err := kernels.OpenCPU(kernels.CPUConfig{Threads: 1})
	expect.OK(t, err)
	defer backend.Close()
	net, _, err := train.OpenNet(filepath.Join(dir, train.LastName), backend)
	expect.OK(t, err)
	defer net.Close()
	c, err := run.ReadConfig(dir)
	expect.OK(t, err)
	set, err := scenes.Make(scenes.Config{Seed: c.Data.Seed, Split: split, N: n, Cache: true})
	expect.OK(t, err)
	l := c.Loader()
	l.BatchSize = 5
	values = map[string][]float64{}
	if _, err := train.EachScore(t.Context(), nil, net, set, l, func(_ int, _, q01, _ []float32) {
		for k, q := range q01 {
			word := set.Vocabulary.Word(k).Text
			values[word] = append(values[word], float64(q))
		}
	}); err != nil {
		t.Fatal(err)
	}
	return values, set.IDs
}

func TestNoiseReport_ShowsTheEstimateOfTheRecipe(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	must(t, byRecipe("train", weather(t, true), "-q", "--arm", "held-rates", "--set", "recipe.epochs=1",
		"--run-dir", dir)...)
	r := noiseReportOf(t, dir)
	for _, w := range r.Q01.Words {
		e := w.Estimate
		switch odd := strings.HasSuffix(w.Word, "odd"); {
		case e == nil:
			t.Errorf("%s has no estimate", w.Word)
		case odd && (e.Rate.Defined() || e.Remarks == ""):
			t.Errorf("%s cannot be told, but: %+v", w.Word, e)
		case !odd && (math.Abs(float64(e.Rate-w.Rate)) > 1e-5 || !(e.Low <= e.Rate && e.Rate <= e.High)):
			t.Errorf("%s: %g held, of the estimate %+v", w.Word, w.Rate, e)
		}
	}
	path := filepath.Join(dir, run.RecipeFolder, recipe.RatesFile)
	data := read(t, filepath.Dir(path), recipe.RatesFile)
	lines := strings.Split(data, "\n")
	fields := strings.Split(lines[2], ",")
	fields[4] = "1.5" // q01_high
	lines[2] = strings.Join(fields, ",")
	write(t, path, strings.Join(lines, "\n"))
	wantFailure(t, call(t, "noise", "report", dir), recipe.RatesFile+":3:", "q01_high")
}

// nmn experiment keeps the estimate next to the folders of the arms, one for each setting of MIL.
func TestNoiseReport_FindsTheEstimateOfAnExperiment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, byRecipe("experiment", weather(t, true), "-q", "--arms", "held-rates", "--set", "recipe.epochs=1",
		"--set", "recipe.fold_epochs=2", "--run-dir", dir)...)
	group := filepath.Join(dir, "flips-0.3-0.1", "seed-1")
	told := func() (n int) {
		for _, w := range noiseReportOf(t, filepath.Join(group, "held-rates")).Q01.Words {
			if w.Estimate != nil {
				n++
			}
		}
		return n
	}
	if n := told(); n != 6 {
		t.Errorf("%d of 6 words have an estimate", n)
	}
	expect.OK(t, os.Rename(filepath.Join(group, run.RecipeFolder), filepath.Join(group, run.RecipeFolder+"-mil")))
	if n := told(); n != 0 {
		t.Errorf("%d words have an estimate, which is of nets with MIL", n)
	}
}

func TestNoiseReport_RefusesWhatHasNoNoiseModel(t *testing.T) {
	t.Parallel()
	dir := trainedArm(t, "baseline")
	wantUsage(t, call(t, "noise", "report", dir), "without a noise model", "nmn-fi")
	wantUsage(t, call(t, "noise", "report", filepath.Dir(dir)), "last.safetensors")
	wantUsage(t, call(t, "noise", "report", dir, "--output", "noise.pdf"), ".html or .md")
	wantUsage(t, call(t, "noise", "report", dir, "--departures", "1001"), "at least 0 and at most 1000")
	wantUsage(t, call(t, "noise", "report"), "report")
	wantFailure(t, call(t, "noise", "report", filepath.Join(dir, "none")), "none")
}
