package scenes

import (
	"encoding/json"
	"os"
	"testing"

	"nmn/labels/inject"
)

// Replaced captions have the texts of their donors, and all others stay.
func TestWrite_ReplacesCaptions(t *testing.T) {
	config := Config{Split: "train", N: 30, Seed: 1}
	set, err := Make(config)
	check(t, err)
	noise, err := inject.ReplaceCaptions(set, inject.Shift, .5, 1)
	check(t, err)
	path, err := Write(t.Context(), config, noise, t.TempDir())
	check(t, err)
	data, err := os.ReadFile(path)
	check(t, err)
	var got exportedSet
	check(t, json.Unmarshal(data, &got))
	own := describeScenes(config).Annotations
	want := map[int]int{} // own caption by place
	for _, change := range noise.Changes {
		for _, r := range change.Captions {
			want[change.Bag*5+r.Slot] = r.Donor*5 + r.DonorSlot
		}
	}
	if len(want) == 0 || len(want) == len(own) {
		t.Fatalf("%d of %d captions are replaced", len(want), len(own))
	}
	for i, a := range got.Annotations {
		from, replaced := want[i]
		if !replaced {
			from = i
		}
		if a.ID != i+1 || a.ImageID != i/5+1 || a.Caption != own[from].Caption {
			t.Errorf("annotation %d: %+v, want the caption %q", i, a, own[from].Caption)
		}
	}
}
