package inject

import (
	"slices"
	"testing"

	"nmn/loader"
)

// Captions that are given away are the original ones, never replaced ones: a set whose captions were replaced gives
// its own captions all the same, and noise that is drawn again for it is the noise drawn once.
func TestWithReplacedCaptions_GivesOriginalCaptions(t *testing.T) {
	set := raggedStream(t)
	noisy, err := WithReplacedCaptions(t.Context(), set, Uniform, .1, 7)
	must(t, err)
	twice, err := WithReplacedCaptions(t.Context(), noisy, Uniform, .1, 7)
	must(t, err)
	changed := false
	for bag := range set.Len() {
		var clean, once, again loader.Row
		for s, row := range map[*loader.Set]*loader.Row{set: &clean, noisy: &once, twice: &again} {
			must(t, s.Row(t.Context(), bag, row))
		}
		if !slices.EqualFunc(once.Captions, clean.Captions, func(a, b []int32) bool { return slices.Equal(a, b) }) {
			t.Errorf("bag %d gives the captions %v, want its own, %v", bag, once.Captions, clean.Captions)
		}
		if !slices.Equal(again.Labels, once.Labels) {
			t.Errorf("bag %d: labels %v of noise drawn twice, %v of noise drawn once", bag, again.Labels, once.Labels)
		}
		changed = changed || !slices.Equal(once.Labels, clean.Labels)
	}
	if !changed {
		t.Error("no label has changed")
	}
}
