package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"nmn/recipe"
	"nmn/run"
)

// hiddenLabels writes scores.csv, features x.csv, labels.csv that leave out 80 % of what is true and have 3 % of what
// is not, and verified.csv with the true labels of the first 60 of 800 rows. It returns the folder and how many labels
// are true.
func hiddenLabels(t *testing.T) (dir string, truths float64) {
	t.Helper()
	dir = t.TempDir()
	chance := rand.New(rand.NewPCG(3, 4))
	words := []string{"cat", "dog", "cow", "hen"}
	var scores, features, labels, verified [][]string
	for i := range 800 {
		id := fmt.Sprintf("r%d", i)
		o, x, z, y := []string{id}, []string{id}, []string{id}, []string(nil)
		for _, word := range words {
			score, label, said := -.8+1.2*chance.NormFloat64(), "0", .03
			if chance.Float64() < 1/(1+math.Exp(-score)) {
				truths++
				y, said = append(y, word), .2
			}
			if chance.Float64() < said {
				label = "1"
			}
			o, z = append(o, fmt.Sprintf("%.4f", score-2.5)), append(z, label)
			x = append(x, fmt.Sprintf("%.4f", score))
		}
		scores, features, labels = append(scores, o), append(features, x), append(labels, z)
		if i < 60 {
			verified = append(verified, []string{id, strings.Join(y, ";")})
		}
	}
	header := "id," + strings.Join(words, ",")
	write(t, filepath.Join(dir, "scores.csv"), csvText(header, scores...))
	write(t, filepath.Join(dir, "labels.csv"), csvText(header, labels...))
	write(t, filepath.Join(dir, "x.csv"), csvText("id,f1,f2,f3,f4", features...))
	write(t, filepath.Join(dir, "verified.csv"), csvText("path,labels", verified...))
	return dir, truths
}

// Scores alone do not show that most labels are missing, and the command says what to do. With some checked rows,
// rates, prevalence and audit are near the truth.
func TestVerified_AnchorsRatesAndAudit(t *testing.T) {
	t.Parallel()
	dir, truths := hiddenLabels(t)
	with := []string{"--verified", filepath.Join(dir, "verified.csv")}
	wantParts(t, must(t, onScores("rates", dir, "--logits")...), "Check 50 random pictures", "verified pictures")
	wantParts(t, must(t, onScores("audit", dir, "--logits")...), "verified pictures")
	found := readJSON(t, must(t, append(onScores("rates", dir, "--logits", "--json"), with...)...))
	expected := 0.0
	for _, class := range found["classes"].([]any) {
		expected += class.(map[string]any)["true_positives"].(float64)
	}
	if q := found["pooled_q01"].(float64); math.Abs(q-.8) > .06 || math.Abs(expected/truths-1) > .25 ||
		found["verified"].(float64) != 60 {
		t.Errorf("q01 %.3f, %.0f true labels of %.0f, verified %v", q, expected, truths, found["verified"])
	}
	table := must(t, append(onScores("rates", dir, "--logits"), with...)...)
	if strings.Contains(table, "Check 50") || !strings.Contains(table, "rest on 60") {
		t.Errorf("the rates rest on verified rows, and the table is\n%s", table)
	}
	found = readJSON(t, must(t, append(onScores("audit", dir, "--logits", "--json"), with...)...))
	if missing := found["counts"].(map[string]any)["expected_missing"].(float64); math.Abs(missing/(.8*truths)-1) > .25 {
		t.Errorf("%.0f labels are expected to be missing, of %.0f", missing, .8*truths)
	}
}

// Training takes the list as a setting, its rates rest on it, and so does an audit of the run.
func TestVerified_AnchorsTraining(t *testing.T) {
	skipShort(t, "trains nets of folds")
	t.Parallel()
	dir, truths := hiddenLabels(t)
	of := func(file string) string { return filepath.Join(dir, file) }
	train := func(name string, more ...string) string {
		to := of(name)
		must(t, append([]string{"train", of("x.csv"), "--labels", of("labels.csv"), "--run-dir", to, "--device", "cpu",
			"--arm", "held-rates", "--noise-rates", "folds:2", "--set", "net.hidden=[4]", "--set", "recipe.fold_epochs=4",
			"--set", "recipe.epochs=2", "--set", "data.test_share=0", "--set", "data.validation_share=0.05"}, more...)...)
		return read(t, filepath.Join(to, run.RecipeFolder, recipe.PageFile))
	}
	if page := train("without"); !strings.Contains(page, "verified pictures") {
		t.Errorf("nothing is verified, and the page does not name the setting:\n%s", page)
	}
	if page := train("with", "--set", "data.verified="+of("verified.csv")); !strings.Contains(page, "verified samples") ||
		!strings.Contains(page, "together: q01 0.7") && !strings.Contains(page, "together: q01 0.8") {
		t.Errorf("rates of verified rows:\n%s", page)
	}
	wantParts(t, must(t, "train", of("x.csv"), "--labels", of("labels.csv"), "--dry-run", "--set", "data.test_share=0.5",
		"--set", "data.verified="+of("verified.csv"), "--run-dir", of("dry")), "whose labels were checked;",
		"of validation or test are not used")
	for _, args := range [][]string{{of("with")}, {of("without"), "--verified", of("verified.csv")}} {
		found := readJSON(t, must(t, append([]string{"audit", "--json"}, args...)...))
		if missing := found["counts"].(map[string]any)["expected_missing"].(float64); math.Abs(missing/(.95*.8*truths)-1) > .3 {
			t.Errorf("audit %s: %.0f labels are expected to be missing, of %.0f", args, missing, .95*.8*truths)
		}
	}
}

// Bad lists and settings name the place and what to do.
func TestVerified_Refuses(t *testing.T) {
	t.Parallel()
	dir, _ := hiddenLabels(t)
	file := filepath.Join(dir, "bad.csv")
	write(t, file, "path,labels\nr1,cat\nr2,wolf\n")
	at := []string{"--verified", file}
	wantFailure(t, call(t, append(onScores("rates", dir, "--logits"), at...)...), `bad.csv", line 3: label "wolf" is `+
		"none of the 4 classes")
	wantFailure(t, call(t, append(onScores("audit", dir, "--logits"), at...)...), `bad.csv", line 3: label "wolf"`)
	wantUsage(t, call(t, append(onScores("audit", dir, "--logits", "--noise-rates", file), at...)...), "leave out one")
	train := []string{"train", filepath.Join(dir, "x.csv"), "--labels", filepath.Join(dir, "labels.csv"), "--dry-run",
		"--run-dir", filepath.Join(dir, "run"), "--set", "data.verified=" + file}
	wantFailure(t, call(t, train...), `bad.csv", line 3: label "wolf"`)
	wantUsage(t, call(t, append(train, "--arm", "baseline")...), "data.verified", "recipe.form")
}
