package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/rng"
	"nmn/recipe"
	"nmn/run"
)

// captionPairs writes pairs.csv with a caption for each of 400 pictures, x.csv with features that show the topic of
// each picture, and foreign.txt with the ids of the captions that belong to other pictures, a quarter.
func captionPairs(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	s := rng.New(5)
	pairs, rows, foreign := []string{"image,caption,id"}, []string{"a,b,c,d,e,f"}, []string(nil)
	for i := range 400 {
		topic, said := i%len(topics), i%len(topics)
		if s.Float64() < .25 {
			said = (topic + 1 + s.Intn(len(topics)-1)) % len(topics)
			foreign = append(foreign, fmt.Sprint(i))
		}
		order := []int{0, 1, 2, 3, 4}
		s.Shuffle(order)
		pairs = append(pairs, fmt.Sprintf("p%d.jpg,a %s and a %s,%d", i, topics[said][order[0]], topics[said][order[1]], i))
		var row []string
		for k := range topics {
			value := s.Normal(0, .3)
			if k == topic {
				value++
			}
			row = append(row, fmt.Sprint(value))
		}
		rows = append(rows, strings.Join(row, ","))
	}
	for name, lines := range map[string][]string{"pairs.csv": pairs, "x.csv": rows, "foreign.txt": foreign} {
		write(t, filepath.Join(dir, name), strings.Join(lines, "\n")+"\n")
	}
	return dir
}

// onPairs is a command line on these captions and features.
func onPairs(dir, runDir string, args ...string) []string {
	at := func(name string) string { return filepath.Join(dir, name) }
	return append([]string{"audit", "captions", at("pairs.csv"), "--features", at("x.csv"), "--truth",
		at("foreign.txt"), "--run-dir", runDir, "--set", "net.hidden=[16]", "--set", "train.batch_size=16",
		"--set", "recipe.fold_epochs=6", "--set", "run.threads=1"}, args...)
}

// One command finds what training and an audit with the scores of the run find.
func TestAuditCaptions_TrainingIsTwoSteps(t *testing.T) {
	skipShort(t, "trains several nets")
	t.Parallel()
	dir := captionPairs(t)
	pictures := manifestOf(t, 60, "image,caption", func(i int) string {
		return fmt.Sprintf("%d.png,a %s thing", i, colours[i%3])
	})
	weights := filepath.Join(dir, "vit.safetensors")
	writeTensors(t, weights, randomTensors(tinyTransformer()))
	for name, c := range map[string]struct {
		data       string
		train, one []string
	}{
		"features": {
			data: filepath.Join(dir, "pairs.csv"),
			train: []string{filepath.Join(dir, "x.csv"), "--set", "data.set=features", "--set",
				captionFile + "=" + filepath.Join(dir, "pairs.csv")},
			one: []string{"--features", filepath.Join(dir, "x.csv")},
		},
		"pictures": {
			data: pictures,
			train: []string{pictures, "--images", filepath.Dir(pictures), "--preset", "scenes", "--noise", "0",
				"--noise-rates", "folds:2"},
			one: []string{"--train", "--images", filepath.Dir(pictures)},
		},
		"backbone": {
			data:  pictures,
			train: []string{pictures, "--images", filepath.Dir(pictures), "--backbone", weights},
			one:   []string{"--images", filepath.Dir(pictures), "--backbone", weights},
		},
	} {
		var more []string
		for _, s := range []string{"train.batch_size=16", "train.stage1_epochs=1", "train.stage2_epochs=1",
			"recipe.fold_epochs=3", "recipe.epochs=1", "run.device=cpu", "run.threads=1"} {
			more = append(more, "--set", s)
		}
		whole, folder := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
		two, one := filepath.Join(folder, "..", "two.csv"), filepath.Join(folder, "..", "one.csv")
		must(t, slices.Concat([]string{"train"}, c.train, more, []string{"-q", "--arm", "caption-filter", "--set",
			"data.validation_share=0", "--set", "data.test_share=0", "--run-dir", whole})...)
		scores := filepath.Join(whole, run.RecipeFolder, recipe.CaptionScoresFile)
		want := must(t, "audit", "captions", c.data, "--scores", scores, "--logits", "--output", two)
		got := must(t, slices.Concat([]string{"audit", "captions", c.data, "--run-dir", folder, "--output", one}, c.one,
			more)...)
		if got != want {
			t.Errorf("%s: one command prints\n%s\nand two print\n%s", name, got, want)
		}
		if read(t, one) != read(t, two) {
			t.Errorf("%s: one command judges captions otherwise than two", name)
		}
	}
}

// Nets find captions that nothing else shows. An interrupted command continues, and a finished one trains nothing.
func TestAuditCaptions_TrainsAndContinues(t *testing.T) {
	skipShort(t, "trains several nets")
	t.Parallel()
	dir := captionPairs(t)
	whole, broken := filepath.Join(dir, "whole"), filepath.Join(dir, "broken")
	first := succeeds(t, onPairs(dir, whole, "--json")...)
	wantParts(t, first.err, "nets    each of 5 folds learns the captions of the others")
	v := readJSON(t, first.out)
	if auc := v["truth"].(map[string]any)["auc"].(float64); !(auc > .8) || v["refused"] != "" ||
		v["samples"].(float64) != 400 {
		t.Errorf("%v", v)
	}
	if c := call(t, onPairs(dir, whole, "--json")...); c.code != exitOK || c.out != first.out ||
		strings.Contains(c.err, "nets    ") || strings.Contains(c.err, "epoch") {
		t.Errorf("again: exit code %d, %s", c.code, c.err)
	}
	for _, place := range []string{recipe.PlainRound, recipe.CaptionsFolder} {
		at := filepath.Join(broken, run.RecipeFolder, place, "fold-2")
		wantParts(t, interruptAfter(t, at, onPairs(dir, broken, "--json", "--set", "train.log_steps=1")...).err,
			"run the same command again to continue")
	}
	if got := must(t, onPairs(dir, broken, "--json", "--set", "train.log_steps=1")...); got != first.out {
		t.Errorf("continued, it finds\n%s\nand at once\n%s", got, first.out)
	}
	wantCode(t, call(t, onPairs(dir, whole, "--set", "train.seed=2")...), exitUsage,
		"holds another run: its train.seed is 1")
}

func TestAuditCaptions_TrainingMistakes(t *testing.T) {
	t.Parallel()
	dir := captionPairs(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	write(t, at("few.csv"), "a,b\n1,2\n3,4\n")
	write(t, at("named.csv"), "id,a,b\np0.jpg,1,2\np1.jpg,3,4\n")
	write(t, at("empty.csv"), "image,caption\np0.jpg,...\np1.jpg,...\n")
	write(t, at("empty-x.csv"), "a,b\n1,2\n3,4\n")
	pairs, folder := at("pairs.csv"), t.TempDir()
	for _, c := range []struct {
		args []string
		says []string
	}{
		{[]string{pairs, "--train"}, []string{"data.set is captions: give --images"}},
		{[]string{pairs, "--train", "--scores", "s.csv"}, []string{"--scores are scores already"}},
		{[]string{pairs, "--run-dir", "r"}, []string{"--run-dir belongs to --train"}},
		{[]string{pairs, "--set", "train.seed=1"}, []string{"--set belongs to --train"}},
		{[]string{pairs, "--train", "--images", ".", "--thumbnails", "3"}, []string{"--thumbnails belongs to --page"}},
		{[]string{pairs, "--features", at("x.csv"), "--set", "noise_rates=online"}, []string{"noise_rates is online"}},
	} {
		wantUsage(t, call(t, append([]string{"audit", "captions"}, c.args...)...), c.says...)
	}
	for _, c := range []struct {
		args []string
		says []string
	}{
		{[]string{pairs, "--train", "--images", folder}, []string{"400 of 400 pictures have no file in", "p0.jpg"}},
		{[]string{pairs, "--features", at("none.csv")}, []string{"none.csv"}},
		{[]string{pairs, "--features", at("few.csv")}, []string{"few.csv has 2 rows", "has 400 pictures"}},
		{[]string{pairs, "--features", at("named.csv")}, []string{`named.csv has no row for picture "p2.jpg"`}},
		{[]string{at("empty.csv"), "--features", at("empty-x.csv")}, []string{"empty.csv"}},
	} {
		args := slices.Concat([]string{"audit", "captions"}, c.args, []string{"--run-dir", filepath.Join(folder, "run")})
		wantFailure(t, call(t, args...), c.says...)
	}
}
