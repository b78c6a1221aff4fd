package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/loader/features"
)

func captionFiles(t *testing.T) (results, references string) {
	t.Helper()
	dir := t.TempDir()
	results, references = filepath.Join(dir, "results.json"), filepath.Join(dir, "references.csv")
	for path, content := range map[string]string{
		results:    `[{"image_id": 3, "caption": "This is a good test."}, {"image_id": 5, "caption": "a red ball on grass"}]`,
		references: "id,caption\n3,this is a test\n3,This is also a test!\n5,a red ball lies on grass\n8,nothing\n",
	} {
		write(t, path, content)
	}
	return results, references
}

func TestCaptionEval_ScoresEveryCaption(t *testing.T) {
	results, references := captionFiles(t)
	table := filepath.Join(t.TempDir(), "scores.csv")
	all := readJSON(t, must(t, "caption", "eval", "--results", results, "--references", references,
		"--partial", "--output", table, "--json"))
	if all["captions"] != 2. || all["meteor_modules"] != "exact stem" ||
		all["bleu_counts"].(map[string]any)["length"] != 10. {
		t.Errorf("%v", all)
	}
	content := readBytes(t, table)
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[1], "3,This is a good test.,0.79999") {
		t.Errorf("scores of captions:\n%s", content)
	}
	wantParts(t, must(t, "caption", "eval", "--results", results, "--references", references, "--partial"), "CIDEr-D",
		"exact stem")
}

func TestCaptionEval_RefusesWhatDoesNotFit(t *testing.T) {
	results, references := captionFiles(t)
	wantUsage(t, call(t, "caption", "eval", "--results", results), "--references")
	other := filepath.Join(t.TempDir(), "other.csv")
	write(t, other, "id,caption\n9,a\n")
	for want, args := range map[string][]string{
		"is not among the 3 references": {"--results", other, "--references", references},
		"3 has 2 generated captions":    {"--results", references, "--references", references},
		"there is no english.words": {"--results", results, "--references", references,
			"--partial", "--meteor-data", t.TempDir()},
		"1 of 3 pictures with refere": {"--results", results, "--references", references},
		"no such file":                {"--results", results + "x", "--references", references},
	} {
		c := call(t, append([]string{"caption", "eval"}, args...)...)
		wantFailure(t, c, want)
	}
}

// Annotations of MSR-VTT hold both splits: each set of features takes the captions of its own.
func TestCaption_SplitsOfMSRVTT(t *testing.T) {
	annotations := writeMSRVTT(t, 12, 4)
	write := func(name string, clips ...int) []string {
		file, table := filepath.Join(t.TempDir(), "x.npy"), filepath.Join(t.TempDir(), "clips.csv")
		w, err := features.Create(file, 2)
		expect.OK(t, err)
		lines := []string{"clip,first,rows"}
		for i, clip := range clips {
			for range 2 {
				expect.OK(t, w.Write([]float32{float32(clip), 1}))
			}
			lines = append(lines, fmt.Sprintf("video%d,%d,2", clip, 2*i))
		}
		expect.OK(t, w.Commit())
		write(t, table, strings.Join(lines, "\n"))
		return []string{"--" + name + "features", file, "--" + name + "clips", table}
	}
	learn, validation := write("", 0, 1, 3, 4, 6, 7, 9, 10), write("val-", 2, 5, 8, 11)
	dir := filepath.Join(t.TempDir(), "run")
	args := append([]string{"caption", "train", "--captions", annotations, "--run-dir", dir, "--preset", "moving-scenes",
		"--set", "net.hidden=8", "--epochs", "1", "--device", "cpu", "--json"}, append(learn, validation...)...)
	if o := readJSON(t, must(t, args...)); o["clips"] != 8. || o["captions"] != 32. || o["words"] != 9. ||
		o["validation"] == nil {
		t.Errorf("%v", o)
	}
	generated := filepath.Join(t.TempDir(), "generated.json")
	must(t, "caption", "generate", dir, "--features", validation[1], "--clips", validation[3], "--output", generated,
		"--device", "cpu")
	must(t, "caption", "eval", "--results", generated, "--references", annotations, "--split", "validate")
	wantFailure(t, call(t, "caption", "eval", "--results", generated, "--references", annotations),
		"8 of 12 pictures with references have no generated caption")
	wantFailure(t, call(t, "caption", "eval", "--results", generated, "--references", annotations, "--split", "test"),
		"no clip belongs to the split test")
}

// The paper's captioner has 23,647 words; docs/guide/captions.md compares these figures.
func TestVocabCaptioner_OfMSRVTT(t *testing.T) {
	root := os.Getenv("NMN_DATA")
	if root == "" {
		t.Skip("NMN_DATA names no folder with data")
	}
	v := readJSON(t, must(t, "vocab", "--captioner", filepath.Join(root, "msrvtt", "train_val_annotation.zip"), "--json"))
	cuts := v["words_at_min_count"].(map[string]any)
	if v["captions"] != 130260. || v["words"] != 23447. || cuts["2"] != 13600. || cuts["5"] != 7815. {
		t.Errorf("%v", v)
	}
}
