package scenes

import (
	"bytes"
	"testing"

	"nmn/loader"
)

// The labels of scenes are what their captions say.
func TestMake_LabelsComeFromCaptions(t *testing.T) {
	for _, s := range []*loader.Set{makeScenes(t, 3, "train", 50),
		makeMoving(t, MovingConfig{Seed: 3, N: 10, Split: "train", Frames: 4})} {
		if len(s.CaptionsInUse) != s.Len() {
			t.Errorf("%s: captions of %d bags, want %d", s.Name, len(s.CaptionsInUse), s.Len())
			continue
		}
		if z, _ := loader.CaptionMatrices(s.CaptionsInUse, s.Vocabulary.Len()); !bytes.Equal(z.Uint8s(), s.Labels.Uint8s()) {
			t.Errorf("%s: captions say other words than the labels", s.Name)
		}
	}
}
