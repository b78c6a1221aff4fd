package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/loader/features"
)

// Annotations of MSR-VTT hold both splits: each set of features takes the captions of its own.
func TestCaption_SplitsOfMSRVTT(t *testing.T) {
	annotations := writeMSRVTT(t, 12, 4)
	write := func(name string, clips ...int) []string {
		file, table := filepath.Join(t.TempDir(), "x.npy"), filepath.Join(t.TempDir(), "clips.csv")
		w, err := features.Create(file, 2)
		check(t, err)
		lines := []string{"clip,first,rows"}
		for i, clip := range clips {
			for range 2 {
				check(t, w.Write([]float32{float32(clip), 1}))
			}
			lines = append(lines, fmt.Sprintf("video%d,%d,2", clip, 2*i))
		}
		check(t, w.Commit())
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
