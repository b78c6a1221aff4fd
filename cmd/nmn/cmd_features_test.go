package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/loader/dataset"
	"nmn/recipe"
	"nmn/report"
	"nmn/run"
	"nmn/train"
)

// featureData writes ARFF files for training and test, and the list of their labels: 3 labels of 8
// features on different scales. One feature is constant.
func featureData(t *testing.T) (trainFile, testFile, labels string) {
	t.Helper()
	dir := t.TempDir()
	labels = filepath.Join(dir, "labels.xml")
	text := `<labels><label name="hot"/><label name="dry"/><label name="windy"/></labels>`
	write(t, labels, text)
	for name, rows := range map[string]int{"train.arff": 160, "test.arff": 80} {
		var b strings.Builder
		b.WriteString("@relation weather\n")
		for i := range 8 {
			fmt.Fprintf(&b, "@attribute x%d numeric\n", i)
		}
		b.WriteString("@attribute hot {0,1}\n@attribute dry {0,1}\n@attribute windy {0,1}\n@data\n")
		for row := range rows {
			s := rng.New(rng.Derive(1, name), row)
			var z [3]int
			for k := range z {
				z[k] = s.Intn(2)
			}
			for i := range 7 {
				fmt.Fprintf(&b, "%.4f,", float64(100*i)+s.Normal(2*float64(z[i%3]), 1)*float64(1+10*i))
			}
			fmt.Fprintf(&b, "5,%d,%d,%d\n", z[0], z[1], z[2])
		}
		write(t, filepath.Join(dir, name), b.String())
	}
	return filepath.Join(dir, "train.arff"), filepath.Join(dir, "test.arff"), labels
}

// onFeatures is a command line on those files that takes a moment.
func onFeatures(t *testing.T, command string, args ...string) []string {
	t.Helper()
	a, b, labels := featureData(t)
	return append([]string{command, "--set", "data.features.train.features=" + a, "--labels", labels, "--set",
		"data.features.test.features=" + b, "--set", "net.hidden=[8]",
		"--batch-size", "16", "--set", "train.stage1_epochs=6", "--set", "train.stage2_epochs=2", "-q"}, args...)
}

func labelAP(t *testing.T, evaluation string) float64 {
	t.Helper()
	v, ok := readJSON(t, evaluation)["labels"].(map[string]any)
	if !ok {
		t.Fatalf("no figures against labels in %.200s", evaluation)
	}
	return v["ap"].(map[string]any)["All"].(float64)
}

func TestFeatures_TrainEvaluatePredict(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	args := onFeatures(t, "train", "--arm", "nmn-fi", "--flips", "0.2:0.1", "--run-dir", dir)
	must(t, args...)
	test := strings.TrimPrefix(args[6], "data.features.test.features=")
	evaluation := must(t, "eval", dir, "--json")
	ap := labelAP(t, evaluation)
	if ap < .8 {
		t.Errorf("AP %v: features that tell their labels are not learned", ap)
	}
	v := readJSON(t, evaluation)
	if v["truth"] == nil || v["transition"] == nil {
		t.Errorf("flips leave no truth or rates to measure: %.200s", evaluation)
	}
	for _, name := range []string{dataset.FlipsFile, dataset.ValidationFlipsFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}

	// Scores of predict, held against labels of the file, give the same figure.
	work := t.TempDir()
	x, y, scores := filepath.Join(work, "x.npy"), filepath.Join(work, "y.csv"), filepath.Join(work, "scores.csv")
	must(t, "features", test, "--labels", args[4], "--output", x, "--output-labels", y)
	table := must(t, "predict", dir, test, "--format", "csv")
	write(t, scores, table)
	if got := labelAP(t, must(t, "eval", "--scores", withoutIDs(t, scores), "--labels", y, "--json")); got != ap {
		t.Errorf("AP of predicted scores %v, of the evaluation %v", got, ap)
	}
	// The checkpoint alone has the standard of the features.
	if other := must(t, "predict", filepath.Join(dir, train.LastName), x, "--format", "csv"); other != table {
		t.Error("predictions of the checkpoint on .npy differ from those of the run on .arff")
	}
	other := filepath.Join(work, "other.csv")
	write(t, other, "1,2\n")
	c := call(t, "predict", dir, other)
	wantFailure(t, c, "8 features")
}

// withoutIDs drops the first column of a table.
func withoutIDs(t *testing.T, path string) string {
	t.Helper()
	text := readBytes(t, path)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for i, line := range lines {
		_, lines[i], _ = strings.Cut(line, ",")
	}
	write(t, path, strings.Join(lines, "\n")+"\n")
	return path
}

func TestFeatures_TellsRowsAndLabelsThatAreNoUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	write(t, path("good.csv"), "x,w,l_cat,l_no,l_all\n1,2,1,0,1\n3,4,0,0,1\n5,6,1,0,1\n7,9,0,0,1\n")
	must(t, "features", path("good.csv"), "--set", "data.features.label_columns=[\"l_*\"]", "--output", path("x.npy"),
		"--output-labels", path("y.csv"))
	wantCode(t, call(t, "features", path("good.csv"), "--set", "data.features.label_columns=[\"l_*\"]",
		"--set", "data.features.weight_column=v"), exitUsage, `has no column "v" for the weights`)
	matrix := readBytes(t, path("x.npy"))
	copy(matrix[len(matrix)-12:], "\x00\x00\xc0\x7f\x00\x00\x80\x7f") // row 3, column 2: NaN; row 4, column 1: infinite
	write(t, path("bad.npy"), string(matrix))
	out := must(t, "features", path("bad.npy"), "--labels", path("y.csv"))
	wantParts(t, out, "1 on no row: l_no", "1 on every row: l_all", "unusable     2 rows",
		"bad.npy\", row 3, column 2 is NaN", "--set data.features.missing_values=mean")
	v := readJSON(t, must(t, "features", path("bad.npy"), "--labels", path("y.csv"),
		"--set", "data.features.missing_values=mean", "--json"))
	if v["unusable_rows"] != 1. || !strings.Contains(fmt.Sprint(v["first_unusable"]), "row 4, column 1 is +Inf") ||
		fmt.Sprint(v["labels_on_no_row"]) != "[l_no]" {
		t.Errorf("described as %v", v)
	}
	learn := []string{"train", "--set", "net.hidden=[2]", "--set", "train.stage1_epochs=1", "--set",
		"train.stage2_epochs=1",
		"--set", "data.validation_share=0", "--set", "data.test_share=0", "--set", "train.patience=0"}
	c := succeeds(t, append(learn, "--set", "data.features.train.features="+path("good.csv"), "--set",
		"data.features.label_columns=[\"l_*\"]", "--run-dir", path("run"))...)
	wantParts(t, c.err, "of 3 labels 1 on no row: l_no; 1 on every row: l_all. Nothing can be learned")
	if c := call(t, append(learn, "--set", "data.features.train.features="+path("x.npy"), "--labels", path("y.csv"),
		"--run-dir", path("quiet"),
		"-q")...); c.code != exitOK || c.err != "" {
		t.Errorf("quiet training: exit code %d, %s", c.code, c.err)
	}
	c = call(t, append(learn, "--set", "data.features.train.features="+path("good.csv"), "--set",
		"data.features.label_columns=[\"l_*\"]", "--set", "recipe.form=estimate",
		"--noise-rates", "folds:5", "--run-dir", path("folds"))...)
	wantCode(t, c, exitUsage, "4 rows cannot be dealt to 5 folds")
}

// Labels that are all equal have no noise to find: the recipe says so and trains on them as they are.
func TestFeatures_RecipeOnLabelsThatAreAllEqual(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("x,w,l_no,l_all\n")
	for i := range 40 {
		fmt.Fprintf(&b, "%d,%d,0,1\n", i%7, i%5)
	}
	file := filepath.Join(dir, "x.csv")
	write(t, file, b.String())
	c := succeeds(t, "train", "--set", "net.hidden=[2]", file, "--set", "data.features.label_columns=[\"l_*\"]",
		"--set", "data.validation_share=0", "--set", "train.patience=0", "--set", "recipe.form=estimate",
		"--noise-rates", "folds:2", "--set", "recipe.fold_epochs=2", "--set", "recipe.epochs=1",
		"--run-dir", filepath.Join(dir, "run"))
	wantParts(t, c.err, "rates   none of 2 labels is present and absent often enough")
	rates := read(t, filepath.Join(dir, "run", report.RatesFile))
	for _, word := range []string{"l_no", "l_all"} {
		wantParts(t, rates, "\n"+word+",,,not estimated: too few labels\n")
	}
	suspects := read(t, filepath.Join(dir, "run", run.RecipeFolder, recipe.SuspectsFile))
	if strings.Count(suspects, "\n") != 1 {
		t.Errorf("suspects among labels that are all equal:\n%s", suspects)
	}
}

func TestFeatures_InterruptedAndResumedEqualsUnbroken(t *testing.T) {
	t.Parallel()
	args := onFeatures(t, "train", "--arm", "nmn-fd", "--set", "train.log_steps=1", "--set", "train.stage1_epochs=12",
		"--set", "train.patience=4")
	on := func(dir string) []string { return append(slices.Clone(args), "--run-dir", dir) }
	whole := filepath.Join(t.TempDir(), "whole")
	must(t, on(whole)...)
	resumedEquals(t, whole, on, []string{run.Stage1Folder}, train.LastName,
		filepath.Join(run.Stage1Folder, train.LastName))
}

func TestFeatures_ExperimentOverFlips(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "experiment")
	args := onFeatures(t, "experiment", "--arms", "stage1,nmn-fi", "--flips", "0:0,0.3:0.1", "--seeds", "1,2",
		"--run-dir", dir, "--json")
	table := must(t, args...)
	wantParts(t, table, "30 missing, 10 incorrect", "NMN-FI")
	a, b := readBytes(t, filepath.Join(dir, "flips-0.3-0.1", "seed-1", "stage1"), dataset.FlipsFile), readBytes(t,
		filepath.Join(dir, "flips-0.3-0.1", "seed-2", "stage1"), dataset.FlipsFile)
	if string(a) == string(b) {
		t.Error("two seeds flip the same labels")
	}
	if again := must(t, args...); again != table {
		t.Error("the second call gives another table")
	}
	// A noise file makes the labels that the flips made.
	run := filepath.Join(t.TempDir(), "run")
	c := call(t, onFeatures(t, "train", "--arm", "stage1", "--noise", filepath.Join(dir, "flips-0.3-0.1", "seed-1",
		"stage1", dataset.FlipsFile), "--run-dir", run, "--json")...)
	if c.code != exitOK || readJSON(t, c.out)["evaluation"].(map[string]any)["truth"] == nil {
		t.Errorf("exit code %d, %s", c.code, c.err)
	}
}

func TestFeatures_SplitsByColumnAndByShare(t *testing.T) {
	var b strings.Builder
	b.WriteString("id,u,v,cat,split\n")
	for i := range 40 {
		fmt.Fprintf(&b, "r%d,%d,%d,%d,%s\n", i, i%2, i, i%2, []string{"train", "train", "val", "test"}[i/10])
	}
	path := filepath.Join(t.TempDir(), "x.csv")
	write(t, path, b.String())
	args := []string{"train", path, "--set", "data.features.label_columns=[cat]", "--dry-run"}
	if out := must(t, args...); !strings.Contains(out, "20 training, 10 validation, 10 test rows") ||
		strings.Contains(out, "missing") || !strings.Contains(out, "2 features, in memory: u, v") {
		t.Errorf("by the column: %s", out)
	}
	wantFailure(t, call(t, append(args, "--set", "data.features.test.features="+path)...), "column of splits")
	wantParts(t, must(t, append(args, "--set", "data.features.ignore_columns=[split]")...),
		"24 training, 8 validation, 8 test rows")
	write(t, path, strings.Replace(b.String(), ",val", ",perhaps", 1))
	wantFailure(t, call(t, args...), `the split of r20 is "perhaps"`)
}

func TestFeatures_MistakesAreToldWithTheCure(t *testing.T) {
	t.Parallel()
	a, b, labels := featureData(t)
	with := func(more ...string) []string {
		return append([]string{"train", a, "--labels", labels, "--set", "data.features.test.features=" + b}, more...)
	}
	for _, c := range []struct {
		args []string
		says []string
	}{
		{with("--noise", "0.4"), []string{"no captions", "--flips"}},
		{with("--mil"), []string{"--mil"}},
		{with("--flips", "0.3"), []string{"missing:incorrect"}},
		{with("--net", "scenes"), []string{"mlp", "pictures"}},
		{with("--set", "data.features.missing_values=mean", "--set", "data.features.standardise=false"),
			[]string{"standardise"}},
		{with("--set", "net.hidden=[0]"), []string{"hidden[0]"}},
		{with("--set", "net.fc6=64"), []string{"fc6", "net.hidden"}},
		{[]string{"train", "--set", "net.hidden=[64]"}, []string{"hidden", "mlp"}},
		{[]string{"train", "--set", "data.set=features", "--preset", "features"},
			[]string{"give data.features.train.features (file"}},
		{append(onFeatures(t, "experiment"), "--replace-captions", "0.2"), []string{"--flips"}},
		{[]string{"predict", "x", "--top"}, []string{"--top"}},
	} {
		wantUsage(t, call(t, c.args...), c.says...)
	}
	for _, c := range []struct {
		args []string
		says []string
	}{
		{[]string{"train", a}, []string{"no labels", a}},
		{[]string{"train", a, "--set", "data.features.label_columns=[\"h*\", nothing]"}, []string{`"nothing"`, "x0"}},
		{[]string{"train", filepath.Join(filepath.Dir(a), "none.npy")}, []string{"none.npy"}},
		{with("--set", "data.features.memory_limit=1e-6"), []string{"memory", "data.features.memory_limit", "line 47"}},
	} {
		wantFailure(t, call(t, c.args...), c.says...)
	}
}

func TestFeatures_NamesCannotActOnATerminal(t *testing.T) {
	file := written(t, "x.csv", []byte("id,a\x1b[2J,b\n1,0.5,2\n2,1,3\n"))
	if text := must(t, "features", file); !strings.Contains(text, `a\x1b[2J`) || strings.Contains(text, "\x1b") {
		t.Errorf("%q", text)
	}
}

// On Mulan's scene, 1211 and 1196 pictures as 294 features, the first stage reaches what the same net
// reached in PyTorch, trained on all rows for six epochs: without label noise, and with labels missing
// and wrong. Means over four seeds against the true labels, with the tolerance of such a mean.
func TestFeatures_SceneOfMulan(t *testing.T) {
	folder := os.Getenv("NMN_DATA")
	if folder == "" {
		t.Skip("NMN_DATA names no folder with data")
	}
	file := func(name string) string { return filepath.Join(folder, "mulan", name) }
	if _, err := os.Stat(file("scene.xml")); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		flips                          string
		ap, apWithin, brier, brierWith float64
	}{{"0:0", .830, .012, .062, .003}, {"0.3:0.1", .781, .025, .089, .007}} {
		dir := t.TempDir()
		must(t, "experiment", file("scene-train.arff.gz"), "--labels", file("scene.xml"),
			"--set", "data.features.test.features="+file("scene-test.arff.gz"), "--arms", "stage1", "--flips", c.flips,
			"--seeds", "1,2,3,4", "--set", "data.validation_share=0", "--set", "train.patience=0",
			"--set", "train.evaluate_epochs=0", "--set", "train.stage1_epochs=6", "--run-dir", dir, "-q")
		var ap, brier float64
		results, err := filepath.Glob(filepath.Join(dir, "*", "*", "stage1", run.ResultFile))
		if err != nil || len(results) != 4 {
			t.Fatalf("%d results, %v", len(results), err)
		}
		for _, path := range results {
			data := readBytes(t, path)
			var o run.Outcome
			expect.OK(t, json.Unmarshal(data, &o))
			ap += float64(o.Evaluation.Truth.AP.All) / 4
			brier += float64(o.Evaluation.Truth.Brier.All) / 4
		}
		t.Logf("flips %s: AP %.4f, Brier %.4f", c.flips, ap, brier)
		if math.Abs(ap-c.ap) > c.apWithin || math.Abs(brier-c.brier) > c.brierWith {
			t.Errorf("flips %s: AP %.4f, Brier %.4f, want %.3f ± %.3f and %.3f ± %.3f", c.flips, ap, brier, c.ap,
				c.apWithin, c.brier, c.brierWith)
		}
	}
}
