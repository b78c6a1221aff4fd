package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/loader/dataset"
	"nmn/run"
)

// exported writes a small COCO-shaped data set.
func exported(t *testing.T, number string) (captions, images, vocabulary string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "scenes")
	captions = strings.TrimSpace(must(t, "scenes", "--number", number, dir))
	return captions, filepath.Join(dir, "images"), filepath.Join(dir, "vocabulary.txt")
}

// onExported is a command line that trains stage 1 on such a data set in a second.
func onExported(captions, images, vocabulary, dir string, more ...string) []string {
	return append([]string{"train", "--preset", "scenes", captions, "--images", images, "--vocab", vocabulary, "--arm",
		"stage1", "--epochs", "1", "--set", "net.width=0.5", "--run-dir", dir}, more...)
}

func TestScenes_RefusesAFilledFolder(t *testing.T) {
	captions, _, _ := exported(t, "3")
	wantUsage(t, call(t, "scenes", filepath.Dir(captions)), "not empty", "captions_train2014.json", "interrupted call")
	truth, err := os.ReadFile(filepath.Join(filepath.Dir(captions), "truth.csv"))
	if err != nil || strings.Count(string(truth), "\n") != 4 {
		t.Errorf("truth.csv: %v, %q", err, truth)
	}
}

func TestVocab_CountsWordsOfCaptions(t *testing.T) {
	t.Parallel()
	captions, _, _ := exported(t, "40")
	var words []struct {
		Word, POS string
		Count     int
	}
	expect.OK(t, json.Unmarshal([]byte(must(t, "vocab", captions, "--json", "--vocab-size", "5")), &words))
	if len(words) != 5 || words[0].Count < words[4].Count || words[4].Count < 1 {
		t.Errorf("words %v", words)
	}
	shown, all := "\n"+must(t, "vocab", captions), "\n"+must(t, "vocab", captions, "--keep-function-words")
	for word, function := range map[string]bool{"in": true, "the": true, "and": true, "ball": false, "red": false} {
		line := "\n" + word + ", "
		if strings.Contains(shown, line) == function || !strings.Contains(all, line) {
			t.Errorf("%q is a function word (%t), and shown without --keep-function-words: %t", word, function, !function)
		}
	}
	file := filepath.Join(t.TempDir(), "vocab.txt")
	wantParts(t, must(t, "vocab", captions, "--output", file), "words in")
}

func TestNoise_FileGivesTheSameLabelsAsTheRate(t *testing.T) {
	t.Parallel()
	captions, images, vocabulary := exported(t, "60")
	data := []string{"--set", "data.captions=" + captions, "--images", images, "--vocab", vocabulary}
	file := filepath.Join(t.TempDir(), "noise.jsonl.gz")
	statistics := readJSON(t, must(t, append([]string{"noise", "--share", "0.4", "--seed", "1", "--output", file,
		"--json"}, data...)...))
	if q := statistics["mean"].(map[string]any)["q01"].(float64); q < .1 || q > .6 {
		t.Errorf("%v of the labels are missing", q)
	}
	args := append([]string{"train", "--preset", "scenes", "--arm", "stage1", "--epochs", "1", "--set", "net.width=0.5",
		"--json"}, data...)
	rate := readJSON(t, must(t, append(args, "--noise", "0.4", "--run-dir", filepath.Join(t.TempDir(), "a"))...))
	fromFile := readJSON(t, must(t, append(args, "--noise", file, "--run-dir", filepath.Join(t.TempDir(), "b"))...))
	if rate["loss"] != fromFile["loss"] || rate["noise"] != fromFile["noise"] {
		t.Errorf("loss %v and %v, noise %v and %v", rate["loss"], fromFile["loss"], rate["noise"], fromFile["noise"])
	}
}

func TestTrain_OnCaptionsWithValidationFile(t *testing.T) {
	t.Parallel()
	captions, images, _ := exported(t, "48")
	valCaptions, valImages, _ := exported(t, "20")
	dir := filepath.Join(t.TempDir(), "run")
	must(t, "train", "--preset", "scenes", captions, "--images", images, "--set", "data.val_captions="+valCaptions,
		"--set", "data.val_images="+valImages, "--set", "data.vocabulary_size=30", "--arm", "nmn-fd", "--epochs", "1",
		"--set", "net.width=0.5", "--run-dir", dir)
	o, err := run.ReadOutcome(dir)
	if err != nil || o.Split != "test" || o.Evaluation.Bags != 10 || o.Evaluation.Classes != 30 {
		t.Errorf("outcome %+v, %v; want 30 words on half of the 20 validation pictures", o, err)
	}
	must(t, "eval", dir, "--split", "validation")
}

func TestTrain_VocabularyOfOtherCaptionsIsRefused(t *testing.T) {
	t.Parallel()
	captions, images, _ := exported(t, "20")
	vocabulary := func(lines string) []string {
		path := filepath.Join(t.TempDir(), "words.txt")
		write(t, path, lines)
		return []string{"train", "--preset", "scenes", captions, "--images", images,
			"--run-dir", t.TempDir(), "--vocab", path}
	}
	wantFailure(t, call(t, vocabulary("zebra, NN, 9\n")...), "words.txt")
	var many strings.Builder
	for i := range dataset.MaxClasses + 1 {
		fmt.Fprintf(&many, "w%d, NN, 1\n", i)
	}
	wantFailure(t, call(t, vocabulary(many.String())...), "at most 100000")
}

func TestTrain_BadSamplesUpToALimit(t *testing.T) {
	t.Parallel()
	captions, images, vocabulary := exported(t, "40")
	pictures, err := filepath.Glob(filepath.Join(images, "*.jpg"))
	expect.OK(t, err)
	write(t, pictures[3], "\xff\xd8\xff broken")
	expect.OK(t, os.Remove(pictures[7]))
	args := func(more ...string) []string {
		return append(onExported(captions, images, vocabulary, filepath.Join(t.TempDir(), "run"), "--set",
			"data.validation_share=0", "--set", "data.test_share=0"), more...)
	}
	wantFailure(t, call(t, args()...), filepath.Base(pictures[7]))
	c := succeeds(t, args("--max-bad-samples", "2")...)
	wantParts(t, c.out, "not measured: nothing was held out")
	wantParts(t, c.err, filepath.Base(pictures[3]))
}

func TestEval_NamesThePicturesThatItLeavesOut(t *testing.T) {
	t.Parallel()
	captions, images, vocabulary := exported(t, "40")
	for i := range 8 {
		write(t, filepath.Join(images, fmt.Sprintf("COCO_train2014_%012d.jpg", i+1)), "")
	}
	dir := filepath.Join(t.TempDir(), "run")
	for _, args := range [][]string{onExported(captions, images, vocabulary, dir, "--set", "data.test_share=0.5",
		"--max-bad-samples", "8"), {"eval", dir}} {
		wantOK(t, call(t, args...), "left out of the evaluation", "COCO_train2014_00000000000")
	}
}
