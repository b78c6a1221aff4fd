package main

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"strings"
	"testing"
)

// tinyTable4 makes a command line of the whole experiment that takes a second or two.
func tinyTable4(dir string, more ...string) []string {
	return append([]string{"experiment", "table4", "--train-size", "32", "--validation-size", "6", "--test-size", "8",
		"--frames", "3", "--stage1-epochs", "1", "--stage2-epochs", "1", "--captions-per-clip", "5", "--epochs", "2",
		"--set", "net.hidden=12", "--seeds", "1", "--device", "cpu", "--threads", "1", "--run-dir", dir}, more...)
}

func TestTable4_FromPicturesToCaptions(t *testing.T) {
	t.Parallel()
	skipShort(t, "trains many runs")
	dir := filepath.Join(t.TempDir(), "table4")
	first := call(t, tinyTable4(dir, "--format", "markdown")...)
	if first.code != exitOK {
		t.Fatalf("exit code %d: %s", first.code, first.err)
	}
	ours, published, found := strings.Cut(first.out, "Published")
	if !found {
		t.Fatalf("no published figures:\n%s", first.out)
	}
	for _, row := range []string{"baseline + MIL", "NMN-FI + MIL", "NMN-FD + MIL", "true concepts", "always "} {
		if !strings.Contains(ours, row) || strings.Contains(published, row) {
			t.Errorf("%s is not in the table of ours alone:\n%s", row, first.out)
		}
	}
	if strings.Contains(ours, "VGG16") || !strings.Contains(published,
		"VGG16-MIL-NMN-FI | 36.5 | 36.2 | 58.3 | 26.4") || !strings.Contains(published, "not to be compared") {
		t.Errorf("published figures:\n%s", published)
	}
	again := call(t, tinyTable4(dir, "--format", "markdown", "--verbose")...)
	if again.out != first.out || strings.Contains(again.err, "epoch 1, step") ||
		!strings.Contains(again.err, "is complete") {
		t.Errorf("what is complete is run again: %s", again.err)
	}
	if generated := readBytes(t, filepath.Join(dir, "captioners", "seed-1", "baseline",
		"generated.json")); strings.Count(string(generated), "moving-test-") != 8 {
		t.Errorf("generated captions: %s", generated)
	}
	table4OwnFeatures(t, filepath.Join(dir, "features", "seed-1", "baseline"))
}

// table4OwnFeatures runs the experiment on the folder of features that another run has left, as one of a user.
func table4OwnFeatures(t *testing.T, folder string) {
	captions := map[string][]string{}
	for split, n := range map[string]string{"train": "32", "val": "6", "test": "8"} {
		scenes := filepath.Join(t.TempDir(), split)
		must(t, "scenes", "--moving", "--format", "concepts", scenes, "--split", split, "--number", n, "--frames", "3")
		var of map[string][]string
		check(t, json.Unmarshal(readBytes(t, scenes, "captions.json"), &of))
		maps.Copy(captions, of)
	}
	content, err := json.Marshal(captions)
	check(t, err)
	file := filepath.Join(t.TempDir(), "all.json")
	write(t, file, content)
	out := must(t, "experiment", "table4", "--features", "mine="+folder, "--captions", file, "--epochs", "1",
		"--set", "net.hidden=8", "--preset", "moving-scenes", "--seeds", "1,2", "--device", "cpu",
		"--run-dir", filepath.Join(t.TempDir(), "own"), "--quiet")
	if !strings.Contains(out, "Captions of test clips of all.json") || !strings.Contains(out, "mine") ||
		strings.Contains(out, "baseline") || strings.Contains(out, "true concepts") {
		t.Errorf("%s", out)
	}
}

func TestTable4_RefusesWhatDoesNotFit(t *testing.T) {
	for says, args := range map[string][]string{
		"--features and --captions belong":  {"--features", "a=b"},
		"want name=folder":                  {"--features", "a"},
		"names a twice":                     {"--features", "a=b,a=c", "--captions", "c.json"},
		"at least one of --seeds":           {"--seeds", ""},
		"--captions-per-clip is 3":          {"--captions-per-clip", "3"},
		"data.frames is 2":                  {"--frames", "2"},
		"--train-size and --features exclu": {"--features", "a=b", "--captions", "c.json", "--train-size", "5"},
		"--partial belongs to --features":   {"--partial"},
	} {
		wantUsage(t, call(t, append([]string{"experiment", "table4"}, args...)...), says)
	}
}
