package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/durable"
	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/labels"
	"nmn/loader/scenes"
	"nmn/recipe"
	"nmn/report"
	"nmn/run"
)

// weather writes a CSV file of 500 rows with a split: 5 labels that 10 features predict well and, if untold is set, one
// label that they do not predict.
func weather(t *testing.T, untold bool) string {
	t.Helper()
	labels := []string{"hot", "dry", "windy", "cold", "wet"}
	if untold {
		labels = append(labels, "odd")
	}
	var b strings.Builder
	for i := range 10 {
		fmt.Fprintf(&b, "x%d,", i)
	}
	for _, l := range labels {
		fmt.Fprintf(&b, "label_%s,", l)
	}
	b.WriteString("split\n")
	for row := range 800 {
		s := rng.New(rng.Derive(1, "weather"), row)
		z := make([]int, len(labels))
		for k := range z {
			if s.Intn(3) == 0 {
				z[k] = 1
			}
		}
		for i := range 10 {
			fmt.Fprintf(&b, "%.4f,", s.Normal(2*float64(z[i%5]), 1))
		}
		for _, v := range z {
			fmt.Fprintf(&b, "%d,", v)
		}
		b.WriteString(map[bool]string{true: "train\n", false: "test\n"}[row < 500])
	}
	path := filepath.Join(t.TempDir(), "weather.csv")
	write(t, path, b.String())
	return path
}

// byRecipe is a command line on such a file that takes a moment.
func byRecipe(command, file string, args ...string) []string {
	return append([]string{command, "--set", "data.features.train.features=" + file,
		"--set", "data.features.label_columns=[\"label_*\"]", "--set", "net.hidden=[16]", "--batch-size", "32",
		"--flips", "0.3:0.1", "--set", "recipe.form=estimate", "--noise-rates", "folds:3", "--set", "recipe.fold_epochs=8",
		"--set", "train.stage2_epochs=3", "--set", "train.patience=0", "--learning-rate", "0.01"}, args...)
}

// armsOf reads the rows of an experiment's table, by arm, as column to value.
func armsOf(t *testing.T, text string) map[string]map[string]float64 {
	t.Helper()
	out := map[string]map[string]float64{}
	for _, row := range readTables(t, text)[0].Rows {
		values := map[string]float64{}
		for name, v := range row {
			if x, ok := v.(float64); ok {
				values[name] = x
			}
		}
		out[fmt.Sprint(row["arm"])] = values
	}
	return out
}

func TestRecipe_BeatsThePlainFormOnNoiseThatItFinds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := succeeds(t, byRecipe("experiment", weather(t, false), "--json", "--run-dir", dir)...)
	wantParts(t, c.err, "3 folds, trained 2 × for 8 epochs on the other folds: the time of 32 epochs of stage 1 more")
	arms := armsOf(t, c.out)
	for _, name := range []string{"held rates", "soft labels"} {
		arm, plain := arms[name], arms["NMN-FI"]
		if arm == nil || plain == nil {
			t.Fatalf("arms %v", arms)
		}
		if arm["q01 error"] > .1 || arm["q10 error"] > .05 || plain["q01 error"] < .2 {
			t.Errorf("%s: rates off by %v and %v, those of the plain form by %v", name, arm["q01 error"],
				arm["q10 error"], plain["q01 error"])
		}
		if arm["OF1"] < plain["OF1"]+3 || arm["Brier"] > plain["Brier"]-.01 {
			t.Errorf("%s: OF1 %.1f, Brier %.3f; plain form %.1f, %.3f", name, arm["OF1"], arm["Brier"], plain["OF1"],
				plain["Brier"])
		}
	}

	// What was written is what nmn rates and nmn audit read, and gives the same rates again.
	found := filepath.Join(dir, "flips-0.3-0.1", "seed-1", run.RecipeFolder)
	at := func(name string) string { return filepath.Join(found, name) }
	again := filepath.Join(t.TempDir(), "rates.csv")
	must(t, "rates", "--scores", at(recipe.ScoresFile), "--logits", "--labels", at(recipe.LabelsFile), "--output", again)
	if !bytes.Equal(readBytes(t, filepath.Dir(again), "rates.csv"), readBytes(t, found, recipe.RatesFile)) {
		t.Error("nmn rates finds other rates in the files of the recipe")
	}
	judged := readJSON(t, must(t, "audit", "--scores", at(recipe.NoisyScoresFile), "--logits",
		"--labels", at(recipe.LabelsFile), "--truth", at(recipe.TruthFile), "--noise-rates", at(recipe.RatesFile), "--json"))
	if judged["truth"] == nil {
		t.Errorf("no judgement in the audit: %v", judged)
	}
	if !strings.Contains(read(t, found, recipe.PageFile), "the scores come from this epoch") {
		t.Error("the page does not tell the best epoch")
	}
}

func TestRecipe_InterruptedEqualsTheUnbroken(t *testing.T) {
	t.Parallel()
	skipShort(t, "interrupts runs and trains them again")
	file := weather(t, false)
	whole := filepath.Join(t.TempDir(), "whole")
	must(t, byRecipe("train", file, "-q", "--threads", "2", "--set", "run.workers=3", "--run-dir", whole)...)
	for _, place := range []string{filepath.Join(run.RecipeFolder, recipe.PlainRound, "fold-2"),
		filepath.Join(run.RecipeFolder, recipe.NoisyRound, "fold-1")} {
		broken := filepath.Join(t.TempDir(), "broken")
		args := byRecipe("train", file, "-q", "--threads", "1", "--set", "train.log_steps=1", "--run-dir", broken)
		interruptAfter(t, filepath.Join(broken, place), args...)
		done := filepath.Join(broken, run.RecipeFolder, recipe.PlainRound, "fold-1", "epoch-08.safetensors")
		before, err := os.Stat(done)
		expect.OK(t, err)
		aside := filepath.Join(filepath.Dir(done), ".epoch-03.safetensors123") // as a killed process leaves it
		write(t, aside, "half")
		must(t, goOn(broken, "-q")...)
		if durable.Exists(aside) {
			t.Errorf("%s: an unfinished file stays", place)
		}
		if after, err := os.Stat(done); err != nil || !after.ModTime().Equal(before.ModTime()) {
			t.Errorf("%s: a fold that was finished was run again (%v)", place, err)
		}
		for _, name := range []string{recipe.FoldsFile, recipe.ScoresFile, recipe.NoisyScoresFile, recipe.RatesFile,
			recipe.SuspectsFile, recipe.PageFile} {
			if !bytes.Equal(readBytes(t, filepath.Join(broken, run.RecipeFolder), name),
				readBytes(t, filepath.Join(whole, run.RecipeFolder), name)) {
				t.Errorf("%s: %s differs", place, name)
			}
		}
		if readResult(t, broken) != readResult(t, whole) {
			t.Errorf("%s: the model differs", place)
		}
	}
}

// A page, a table and a file report the rates as the terminal does: words without an estimate have no rates. Held are
// the rates that were found.
func TestRecipe_PagesSayWhatTheTerminalSays(t *testing.T) {
	t.Parallel()
	for _, arm := range []string{"held-rates", "soft-labels"} {
		t.Run(arm, func(t *testing.T) { pagesSayWhatTheTerminalSays(t, arm) })
	}
}

func pagesSayWhatTheTerminalSays(t *testing.T, arm string) {
	dir := filepath.Join(t.TempDir(), "run")
	c := succeeds(t, byRecipe("train", weather(t, true), "--arm", arm, "--set", "recipe.epochs=1", "--run-dir", dir)...)
	const said = "1 of 6 labels: the scores do not show their noise; their labels are taken as they are"
	const unknown = "1 of 6 classes not estimated: "
	for name, text := range map[string]string{"the terminal": c.err, "report.html": read(t, dir, report.HTMLFile),
		"result.json": read(t, dir, run.ResultFile)} {
		wantParts(t, text, said)
		if name == "report.html" && !strings.Contains(text, unknown) {
			t.Errorf("%s does not name the word without an estimate", name)
		}
	}
	wantParts(t, must(t, "eval", dir, "--classes", "6"), unknown)
	out := must(t, "noise", "report", dir, "--classes", "0")
	at := strings.Index(out, "odd")
	if at < 0 || !strings.HasPrefix(strings.Fields(out[at:])[1], "–") {
		t.Errorf("nmn noise report tells a rate of the word without an estimate:\n%s", out)
	}
	if arm == "soft-labels" {
		return
	}
	if strings.Contains(c.err, "noise held") {
		t.Errorf("said: %s", c.err)
	}
	v, err := checkpointOf(t, dir).Vocabulary()
	expect.OK(t, err)
	held, err := labels.ReadFile(filepath.Join(dir, report.RatesFile), v, labels.Left)
	expect.OK(t, err)
	found, err := labels.ReadWordsFile(filepath.Join(dir, run.RecipeFolder, recipe.RatesFile), v.Texts(), labels.Given)
	expect.OK(t, err)
	for c, word := range held {
		want := found[c].Q01
		if strings.HasSuffix(word.Word, "odd") != math.IsNaN(want) {
			t.Errorf("%s: rate %v", word.Word, want)
		}
		if math.IsNaN(want) {
			if !math.IsNaN(word.Q01) || !math.IsNaN(word.Q10) || !strings.HasPrefix(word.Remarks, "not estimated: ") {
				t.Errorf("%s: %+v, which nobody has estimated", word.Word, word)
			}
			continue
		}
		if math.Abs(float64(word.Q01)-want) > 1e-5 {
			t.Errorf("%s: q01 %v held, %v found", word.Word, word.Q01, want)
		}
	}
}

func TestRecipe_PredictTakesTheThresholdOfTheRun(t *testing.T) {
	t.Parallel()
	file, dir := weather(t, false), filepath.Join(t.TempDir(), "run")
	must(t, byRecipe("train", file, "-q", "--arm", "held-rates", "--set", "recipe.epochs=1", "--run-dir", dir)...)
	o, err := run.ReadOutcome(dir)
	if err != nil || o.Threshold == nil || !(*o.Threshold > .05 && *o.Threshold < .95) {
		t.Fatalf("threshold of %+v: %v", o, err)
	}
	given := fmt.Sprintf("%v", *o.Threshold)
	usual := call(t, "predict", dir, file, "--json")
	wantParts(t, usual.err, "out-of-fold", fmt.Sprintf("%.3f", *o.Threshold))
	if usual.out != must(t, "predict", dir, file, "--json", "--threshold", given) {
		t.Error("the default is another threshold than that of the run")
	}
	if usual.out == must(t, "predict", dir, file, "--json", "--threshold", "0.95") {
		t.Error("--threshold changes nothing")
	}
}

func TestRecipe_IsTheDefaultWhereItFits(t *testing.T) {
	t.Parallel()
	features := []string{"train", "--set", "data.features.train.features=x.csv", "--preset", "features"}
	coco := []string{"train", "--preset", "paper-coco", "--set", "data.captions=a.json", "--images", "b"}
	for _, test := range []struct {
		args  []string
		arm   recipe.Name
		rates string
	}{
		{[]string{"train"}, recipe.CaptionFilter, recipe.Online},
		{[]string{"train", "--arm", "held-rates"}, recipe.HeldRates, recipe.Online},
		{[]string{"train", "--arm", "forward"}, recipe.Forward, recipe.Online},
		{[]string{"train", "--set", "recipe.form=estimate"}, recipe.CaptionFilter, recipe.Online},
		{features, recipe.SoftLabels, "folds:5"},
		{append(features, "--noise-rates", "folds:2"), recipe.SoftLabels, "folds:2"},
		{append(coco, "--arm", "held-rates"), recipe.HeldRates, recipe.Online},
		// What names an arm, a start or a paper is taken at its word.
		{coco, recipe.FD, ""},
		{[]string{"train", "--arm", "nmn-fi"}, recipe.FI, ""},
		{[]string{"train", "--arm", "baseline"}, recipe.Baseline, ""},
		{append(features, "--arm", "baseline"), recipe.Baseline, ""},
		{[]string{"train", "--set", "train.noise.miss_rate=[0.2]"}, recipe.FD, ""},
		{[]string{"train", "--noise-rates", "q.csv"}, recipe.FD, "q.csv"},
		{[]string{"train", "--set", "train.max_steps=5"}, recipe.FD, ""},
		{[]string{"train", "--set", "stage1=x.safetensors"}, recipe.FD, ""},
		{[]string{"train", "--set", "train.overfit=true"}, recipe.FD, ""},
		{[]string{"train", "--set", "recipe.form=paper"}, recipe.FD, ""},
		{[]string{"train", "--config", written(t, "nmn.yaml", "arm: nmn-fi\n")}, recipe.FI, ""},
		{[]string{"train", "--config", written(t, "nmn.yaml", "train:\n  noise: {miss_rate: [0.2]}\n")}, recipe.FD, ""},
	} {
		c := printed(t, test.args...)
		settings := c.Settings()
		if c.Arm != test.arm || c.NoiseRates != test.rates || settings.Estimates() != (test.rates != "" &&
			test.rates != "q.csv") {
			t.Errorf("%q: arm %s, rates %q, recipe %s", test.args, c.Arm, c.NoiseRates, c.Recipe.Form)
		}
	}
}

// Experiments with other arms of the same recipe share a folder.
func TestRecipe_ArmsOfAnExperimentAreNoSetting(t *testing.T) {
	usual, named := printed(t, "experiment", "--size", "quick"), printed(t, "experiment", "--size", "quick",
		"--arms", "stage1,held-rates,forward")
	if key, was, is := run.FirstChange(&usual, &named); key != "" {
		t.Errorf("%s is %s and %s", key, was, is)
	}
}

// If the data give no rates, a run that did not ask for rates is not refused.
func TestRecipe_GoesBackWhereTheDataCannotTellRates(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tell := func(args ...string) string {
		c := succeeds(t, tiny("train", append([]string{"--set", "data.train_size=24", "--run-dir", filepath.Join(dir, "run"),
			"--dry-run"}, args...)...)...)
		return c.err + c.out
	}
	if said := tell(); !strings.Contains(said, "recipe  paper: 24 pictures are one batch of 32") ||
		!strings.Contains(said, "nmn-fd") {
		t.Errorf("said: %s", said)
	}
	if said := tell("--batch-size", "8"); strings.Contains(said, "recipe  paper") ||
		!strings.Contains(said, "caption-filter") {
		t.Errorf("with three batches: %s", said)
	}
	wantUsage(t, call(t, tiny("train", "--set", "data.train_size=24", "-q", "--arm", "held-rates", "--run-dir", dir)...),
		"24 pictures are one batch of 32", "lower the batch size")
	file, _, labels := featureData(t)
	wantUsage(t, call(t, "train", file, "--labels", labels, "--noise-rates", "folds:500", "-q", "--arm", "soft-labels",
		"--run-dir", dir), "cannot be dealt to 500 folds")
}

// A class on no bag or on all bags has no rates. The rates of other classes are estimated, and the run reports both.
func TestRecipe_ClassesWithoutPositivesOrNegatives(t *testing.T) {
	t.Parallel()
	text := read(t, filepath.Dir(weather(t, false)), "weather.csv")
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		fields := strings.Split(line, ",")
		if i > 0 {
			fields[10], fields[11] = "0", "1"
		}
		b.WriteString(strings.Join(fields, ",") + "\n")
	}
	file, dir := written(t, "constant.csv", b.String()), filepath.Join(t.TempDir(), "run")
	c := succeeds(t, "train", file, "--set", "data.features.label_columns=[\"label_*\"]", "--set", "net.hidden=[8]",
		"--noise-rates", "folds:2", "--set", "recipe.fold_epochs=2", "--set", "train.stage2_epochs=1", "--run-dir", dir)
	wantParts(t, c.err, "of 5 labels: the scores do not show their noise; their labels are taken as they are",
		"on no row: label_hot")
}

func TestRecipe_RaisesRates(t *testing.T) {
	skipShort(t, "trains several runs")
	t.Parallel()
	file, dir := weather(t, false), t.TempDir()
	args := func(name string, more ...string) []string {
		return append(byRecipe("train", file, "--flips", "0.1:0.02", "--set", "recipe.fold_epochs=4",
			"--run-dir", filepath.Join(dir, name)), more...)
	}
	must(t, args("plain", "-q")...)
	c := succeeds(t, args("raised", "--set", "recipe.floor=true")...)
	wantParts(t, c.err, "raised to at least q01")
	words := []string{"label_hot", "label_dry", "label_windy", "label_cold", "label_wet"}
	of := func(name string) *labels.Rates {
		found, err := labels.ReadWordsFile(filepath.Join(dir, name, run.RecipeFolder, recipe.RatesFile), words, labels.Given)
		expect.OK(t, err)
		return found.Rates()
	}
	plain, raised := of("plain"), of("raised")
	if sum(raised.Q01) <= sum(plain.Q01)+.01 {
		t.Errorf("q01 %v, without a floor %v", raised.Q01, plain.Q01)
	}
}

// A noise model that is held where it starts shows where that is: at the mean rates of the estimate.
func TestRecipe_StartsAtTheEstimate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	c := succeeds(t, "train", "--preset", "scenes", "--size", "quick", "--set", "data.train_size=96",
		"--set", "data.validation_size=0", "--set", "data.test_size=16", "--set", "net.width=0.5", "--epochs", "1",
		"--arm", "nmn-fi", "--set", "recipe.start=true", "--set", "train.noise.frozen=true", "--device", "cpu",
		"--run-dir", dir)
	wantParts(t, read(t, dir, "report.html"), "NMN-FI, estimated start")
	words, err := scenes.Vocabulary()
	expect.OK(t, err)
	found, err := labels.ReadWordsFile(filepath.Join(dir, report.RatesFile), words.Texts(), labels.Given)
	expect.OK(t, err)
	rates := found.Rates()
	wantParts(t, c.err, fmt.Sprintf("q01 %.3f, q10 %.4f over all labels", rates.Q01[0], rates.Q10[35]))
}

func sum(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total
}

func TestRecipe_RefusesWhatDoesNotFit(t *testing.T) {
	for want, args := range map[string][]string{
		"--noise-rates folds:5": {"train", "--arm", "soft-labels"},
		"belongs to":            {"train", "--set", "recipe.form=paper", "--noise-rates", "folds:3"},
		"2 to 1000":             {"train", "--set", "recipe.form=estimate", "--noise-rates", "folds:1"},
		"train.max_steps":       {"train", "--set", "recipe.form=estimate", "--set", "train.max_steps=3"},
		"leave out stage1":      {"train", "--set", "recipe.form=estimate", "--set", "stage1=x.safetensors"},
		"--arm held-rates":      {"train", "--set", "recipe.form=estimate", "--arm", "soft-labels"},
		"recipe.floor":          {"train", "--set", "recipe.form=paper", "--set", "recipe.floor=true"},
		"recipe.start":          {"train", "--set", "recipe.form=paper", "--set", "recipe.start=true"},
		"fold_epochs":           {"train", "--set", "recipe.form=estimate", "--set", "recipe.fold_epochs=-1"},
		"held-rates": {"experiment", "--size", "quick", "--arms", "stage1,held-rates",
			"--set", "recipe.form=paper"},
	} {
		wantUsage(t, call(t, args...), want)
	}
}

func TestRecipe_OnlineScoresCostNoEpoch(t *testing.T) {
	t.Parallel()
	file := weather(t, false)
	args := func(dir string, more ...string) []string {
		return append([]string{"train", file, "--set", "data.features.label_columns=[\"label_*\"]",
			"--set", "net.hidden=[16]", "--batch-size", "4", "--flips", "0.3:0.1", "--set", "recipe.form=estimate",
			"--noise-rates", "online", "--epochs", "3", "--set", "train.patience=0", "--learning-rate", "0.01",
			"--run-dir", dir}, more...)
	}
	dir := filepath.Join(t.TempDir(), "run")
	c := succeeds(t, args(dir)...)
	if !strings.Contains(c.err, "without an extra epoch") ||
		!strings.Contains(c.err, "from the scores of 248 rows before they were learned") || strings.Contains(c.err, "fold") {
		t.Errorf("said: %s", c.err)
	}
	o, err := run.ReadOutcome(dir)
	if err != nil || o.Arm != recipe.HeldRates || o.Threshold == nil {
		t.Fatalf("outcome %+v, %v", o, err)
	}
	if e := o.Evaluation.Transition; e.Q01Error.All > .15 || e.Q10Error.All > .06 {
		t.Errorf("rates off by %v and %v", e.Q01Error.All, e.Q10Error.All)
	}
	in := func(name string) string { return filepath.Join(run.RecipeFolder, name) }
	resumedEquals(t, dir, func(dir string) []string {
		return args(dir, "-q", "--set", "train.log_steps=1", "--set", "train.checkpoint_steps=7")
	}, []string{run.Stage1Folder}, in(recipe.OnlineFile), in(recipe.ScoresFile), in(recipe.LabelsFile),
		in(recipe.RatesFile))
}
