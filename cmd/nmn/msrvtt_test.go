package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeMSRVTT writes annotations of clips: two in three are of the training split, and clip i has the
// given number of sentences, each with the word of its number.
func writeMSRVTT(t *testing.T, clips, sentences int) string {
	t.Helper()
	var videos, all []string
	for i := range clips {
		split := "train"
		if i%3 == 2 {
			split = "validate"
		}
		videos = append(videos, fmt.Sprintf(`{"video_id": "video%d", "split": %q}`, i, split))
		for s := range sentences {
			all = append(all, fmt.Sprintf(`{"sen_id": %d, "video_id": "video%d", "caption": "a dog of %s number w%d"}`, i*sentences+s, i, split, s))
		}
	}
	path := filepath.Join(t.TempDir(), "train_val_videodatainfo.json")
	text := fmt.Sprintf(`{"videos": [%s], "sentences": [%s]}`, strings.Join(videos, ","), strings.Join(all, ","))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestVocab_OfTheTrainingClipsOfMSRVTT(t *testing.T) {
	file := writeMSRVTT(t, 3, 30)
	count := func(args ...string) map[string]int {
		var words []struct {
			Word  string
			Count int
		}
		if err := json.Unmarshal([]byte(must(t, append([]string{"vocab", file, "--json"}, args...)...)), &words); err != nil {
			t.Fatal(err)
		}
		counts := map[string]int{}
		for _, w := range words {
			counts[w.Word] = w.Count
		}
		return counts
	}
	// Two training clips, 20 sentences each unless a flag says otherwise.
	if got := count(); got["dog"] != 40 || got["train"] != 40 || got["validate"] != 0 || got["w19"] != 2 || got["w20"] != 0 {
		t.Errorf("counts %v", got)
	}
	if got := count("--captions-per-bag", "5"); got["dog"] != 10 {
		t.Errorf("counts of 5 captions %v", got)
	}
	if got := count("--split", "validate", "--vocab-size", "5"); got["dog"] != 20 || got["validate"] != 20 || len(got) != 5 {
		t.Errorf("counts of the validation clip %v", got)
	}
}
