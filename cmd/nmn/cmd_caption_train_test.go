package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"nmn/captioner"
	"nmn/captioner/session"
	"nmn/internal/durable"
	"nmn/internal/expect"
	"nmn/run"
	"nmn/train"
)

// captionScenesIn writes a small split of the moving scenes to caption.
func captionScenesIn(t *testing.T, split string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), split)
	must(t, "scenes", "--moving", "--format", "concepts", dir, "--split", split, "--number", "24", "--frames", "4")
	return dir
}

// captionArgs make a command line that trains a captioner of the smallest kind on a folder of scenes.
func captionArgs(scenes, dir string, more ...string) []string {
	return append([]string{"caption", "train", "--features", filepath.Join(scenes, "truth.npy"),
		"--clips", filepath.Join(scenes, "truth.csv"), "--captions", filepath.Join(scenes, "captions.json"), "--run-dir", dir,
		"--preset", "moving-scenes", "--set", "net.embedding=8", "--set", "net.words=6", "--set", "net.hidden=12",
		"--batch-size", "8", "--set", "data.validation_share=0.25", "--device", "cpu", "--threads", "1"}, more...)
}

func TestCaption_TrainGenerateEval(t *testing.T) {
	t.Parallel()
	scenes, test := captionScenesIn(t, "train"), captionScenesIn(t, "test")
	dir := filepath.Join(t.TempDir(), "run")
	o := readJSON(t, must(t, captionArgs(scenes, dir, "--epochs", "15", "--learning-rate", "0.02", "--set",
		"train.patience=0", "--json")...))
	if o["clips"] != 18. || o["epochs"] != 15. || o["validation"] == nil || o["checkpoint"] != train.BestName {
		t.Errorf("result %v", o)
	}
	if lines := timeless(t, dir); len(lines) != 30 {
		t.Errorf("%d lines in the log, want those of 15 epochs and 15 validations", len(lines))
	}
	wantParts(t, succeeds(t, captionArgs(scenes, dir, "--epochs", "15", "--learning-rate", "0.02", "--set",
		"train.patience=0", "--verbose")...).err, "complete")

	features := []string{"--features", filepath.Join(test, "truth.npy"), "--clips", filepath.Join(test, "truth.csv"),
		"--device", "cpu"}
	out := filepath.Join(t.TempDir(), "generated.json")
	must(t, append([]string{"caption", "generate", dir, "--output", out, "--generate-batch", "7"}, features...)...)
	if one := must(t, append([]string{"caption", "generate", dir, "--generate-batch", "1", "--threads", "1"},
		features...)...); one != read(t, out) {
		t.Error("captions depend on the size of the batch or the number of threads")
	}
	beam := must(t, append([]string{"caption", "generate", dir, "--beam", "3", "--length-penalty", "1",
		"--max-length", "4", "--vocab", filepath.Join(dir, captioner.WordsFile)}, features...)...)
	if strings.Count(beam, "image_id") != 24 {
		t.Errorf("%s", beam)
	}
	all := readJSON(t, must(t, "caption", "eval", "--results", out, "--references", filepath.Join(test,
		"captions.json"), "--json"))
	if bleu := all["all"].(map[string]any)["bleu"].([]any); all["captions"] != 24. || bleu[0].(float64) < .3 {
		t.Errorf("scores %v", all)
	}
}

// What people wrote may be odd: it is reported, and learned as far as it can be.
func TestCaptionTrain_OddCaptions(t *testing.T) {
	scenes := captionScenesIn(t, "train")
	var of map[string][]string
	expect.OK(t, json.Unmarshal(readBytes(t, scenes, "captions.json"), &of))
	of["moving-train-000003"] = []string{"", "!?", "a " + strings.Repeat("x", 10000), strings.Repeat("a ball and ", 20)}
	of["somewhere"] = []string{"a clip without features"}
	delete(of, "moving-train-000004")
	content, err := json.Marshal(of)
	expect.OK(t, err)
	odd := filepath.Join(t.TempDir(), "odd.json")
	write(t, odd, content)
	args := captionArgs(scenes, filepath.Join(t.TempDir(), "run"), "--captions", odd, "--set", "train.max_steps=2",
		"--set", "data.validation_share=0")
	wantFailure(t, call(t, args...), `1 of 24 clips have no captions, the first is "moving-train-000004"`)
	wantOK(t, call(t, append(args, "--partial")...), "1 word of more than 100 bytes", "1 clip without captions, "+
		"1 captioned clip without features, 2 captions without a word, 1 caption with too many words")
}

// A run that is killed without warning and resumed leaves the checkpoints of one in one piece.
func TestCaptionTrain_KilledRunEqualsWhole(t *testing.T) {
	t.Parallel()
	skipShort(t, "kills and restarts processes")
	scenes := captionScenesIn(t, "train")
	whole, broken := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	often := []string{"--epochs", "4", "--set", "train.checkpoint_steps=3", "--set", "train.log_steps=1",
		"--set", "train.patience=0", "--quiet", "-v"}
	must(t, captionArgs(scenes, whole, often...)...)
	next := captionArgs(scenes, broken, often...)
	for i, e := range []event{
		{At: "msg=step", Nth: 4},
		{At: "msg=epoch"},
		{At: "msg=checkpoint", Nth: 3},
		{At: "msg=step", Nth: 3, After: time.Millisecond}, // about when that step is saved
	} {
		e.Do = killsItself
		cmd, _, stderr := asCommand(next...)
		cmd.Env = append(cmd.Env, e.env())
		if err := cmd.Run(); !killedItself(stderr) && (e.After == 0 || err != nil) {
			t.Fatalf("the run has ended before kill %d: %v: %s", i+1, err, stderr)
		}
	}
	must(t, next...)
	for _, name := range []string{train.LastName, train.BestName, captioner.WordsFile} {
		if !bytes.Equal(readBytes(t, broken, name), readBytes(t, whole, name)) {
			t.Errorf("%s differs from that of a run in one piece", name)
		}
	}
	a, b := readJSON(t, read(t, broken, run.ResultFile)), readJSON(t, read(t, whole, run.ResultFile))
	delete(a, "seconds")
	delete(b, "seconds")
	if !reflect.DeepEqual(a, b) || a["loss"] == 0. {
		t.Errorf("result %v of a run in one piece %v", a, b)
	}
	if a, b := timeless(t, broken), timeless(t, whole); !reflect.DeepEqual(a, b) {
		t.Errorf("log\n%v\nof a run in one piece\n%v", a, b)
	}
}

func TestCaptionTrain_InterruptSavesAndResumes(t *testing.T) {
	scenes, dir := captionScenesIn(t, "train"), filepath.Join(t.TempDir(), "run")
	c := interruptAfter(t, dir, captionArgs(scenes, dir, "--epochs", "100000", "--set", "train.patience=0",
		"--set", "data.validation_share=0", "--set", "train.log_steps=1")...)
	wantParts(t, c.err, "run the same command again to continue")
	again := func(more ...string) []string {
		return captionArgs(scenes, dir, append(more, "--epochs", "1", "--set", "train.patience=0",
			"--set", "data.validation_share=0", "--set", "train.log_steps=1")...)
	}
	wantUsage(t, call(t, again("--set", "net.hidden=13")...), "net.hidden is 12, this one's 13")
	must(t, again()...)
	write(t, filepath.Join(dir, "notes.txt"), "mine")
	must(t, again("--set", "net.hidden=13", "--restart")...)
	if there, err := session.ReadConfig(dir); err != nil || there.Net.Hidden != 13 ||
		len(readBytes(t, dir, "notes.txt")) == 0 {
		t.Errorf("begun again: %+v, %v", there, err)
	}
}

// Ids of words mean the words of the run's beginning: other captions, with other words, are refused.
func TestCaptionTrain_RefusesTheVocabularyOfAnotherRun(t *testing.T) {
	scenes, dir := captionScenesIn(t, "train"), filepath.Join(t.TempDir(), "run")
	args := func(steps string) []string {
		return captionArgs(scenes, dir, "--set", "train.max_steps="+steps, "--set", "data.validation_share=0", "--quiet")
	}
	must(t, args("2")...)
	captions := filepath.Join(scenes, "captions.json")
	changed := strings.Replace(read(t, captions), "ball", "balloon", 1)
	write(t, captions, changed)
	wantUsage(t, call(t, args("4")...), captions+" has changed since this run began")
	if err := os.Remove(filepath.Join(dir, run.DataFile)); err != nil { // as of an older version
		t.Fatal(err)
	}
	c := call(t, args("4")...)
	wantFailure(t, c, "its vocabulary is another one", "the vocabulary belongs to another run")
	write(t, filepath.Join(dir, captioner.WordsFile), "nmn-caption-words 1 cut short")
	wantFailure(t, call(t, args("4")...), "line 1")
}

func TestCaptionTrain_DryRunWritesNothing(t *testing.T) {
	scenes, dir := captionScenesIn(t, "train"), filepath.Join(t.TempDir(), "run")
	out := must(t, captionArgs(scenes, dir, "--dry-run")...)
	wantParts(t, out, "18 with 90 captions, up to 4 frames of 36 features", "parameters", "steps of",
		"nothing was written")
	if durable.Exists(dir) {
		t.Error("a dry run has made the folder")
	}
}

func TestCaptionTrain_RefusesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	scenes, test := captionScenesIn(t, "train"), captionScenesIn(t, "test")
	dir := filepath.Join(t.TempDir(), "run")
	wantUsage(t, call(t, "caption", "train"), "--features and --captions")
	for says, args := range map[string][]string{
		"data.validation_share is 1": captionArgs(scenes, dir, "--set", "data.validation_share=1"),
		"belong to --val-feature":    captionArgs(scenes, dir, "--val-clips", "x.csv"),
		"want paper, small or":       captionArgs(scenes, dir, "--preset", "large"),
	} {
		wantUsage(t, call(t, args...), says)
	}
	for says, args := range map[string][]string{
		"no clip with features has captions to": captionArgs(scenes, dir, "--captions", filepath.Join(test, "captions.json")),
		"no such file":                          captionArgs(scenes, dir, "--features", filepath.Join(dir, "none.npy")),
	} {
		wantFailure(t, call(t, args...), says)
	}
	if durable.Exists(dir) {
		t.Error("a run that cannot be has made its folder")
	}
}

func TestCaptionGenerate_RefusesWhatDoesNotFit(t *testing.T) {
	scenes, dir := captionScenesIn(t, "train"), filepath.Join(t.TempDir(), "run")
	must(t, captionArgs(scenes, dir, "--set", "train.max_steps=2", "--set", "data.validation_share=0", "--quiet")...)
	other := filepath.Join(t.TempDir(), "other")
	must(t, "scenes", "--moving", "--format", "concepts", other, "--number", "4", "--frames", "3")
	clips := func(folder, name string) []string {
		return []string{"caption", "generate", dir, "--features", filepath.Join(folder, name+".npy"),
			"--clips", filepath.Join(folder, name+".csv"), "--device", "cpu"}
	}
	must(t, append(clips(other, "truth"), "--fewer-frames")...)
	for says, args := range map[string][]string{
		"at most 3 frames, the captioner was trained on up to 4": clips(other, "truth"),
		"cannot find the model": {"caption", "generate", filepath.Join(dir, "none"), "--features", filepath.Join(scenes,
			"truth.npy")},
	} {
		wantFailure(t, call(t, args...), says)
	}
	wantUsage(t, call(t, append(clips(scenes, "truth"), "--beam", "0")...), "beam width is 0")
	wantUsage(t, call(t, "caption", "generate", dir), "--features")
	last := filepath.Join(dir, train.LastName)
	content := readBytes(t, last)
	write(t, last, content[:len(content)/2])
	wantFailure(t, call(t, clips(scenes, "truth")...), "last.safetensors")
}

func TestVocabCaptioner_TellsTheCuts(t *testing.T) {
	captions := filepath.Join(t.TempDir(), "c.csv")
	write(t, captions, "id,caption\n1,a dog and a cat\n2,\n1,"+strings.Repeat("x", 10000)+"\n")
	words := filepath.Join(t.TempDir(), "words.txt")
	v := readJSON(t, must(t, "vocab", "--captioner", captions, "--json", "--output", words))
	cuts := v["words_at_min_count"].(map[string]any)
	if v["words"] != 4. || v["empty_captions"] != 1. || v["tokens_too_long"] != 1. || cuts["1"] != 4. || cuts["2"] != 1. {
		t.Errorf("%v", v)
	}
	if lines := strings.Count(read(t, words), "\n"); lines != 5 {
		t.Errorf("%d lines in the vocabulary", lines)
	}
	wantParts(t, must(t, "vocab", "--captioner", captions), "at least   2 times:      1", "1 word of more than 100 bytes")
	wantUsage(t, call(t, "vocab", "--captioner", captions, "--min-count", "-1"), "vocab: --min-count is -1, want at least 0")
	wantUsage(t, call(t, "vocab", "--captioner", captions, "--exclude", "dog"), "--exclude and --captioner exclude each other")
	wantUsage(t, call(t, "vocab", "--captioner", captions, captions), "one file of captions, not 2")
}
