package loader

import (
	"fmt"

	"nmn/internal/parallel"
)

// OfCaptions returns the set with labels from the kept captions only. kept has an element for each bag and
// caption of Said. Bags without a kept caption are left out. Truth, Counts and Captions stay.
func (s *Set) OfCaptions(name string, kept [][]bool) (*Set, error) {
	if s.CaptionsInUse == nil || len(kept) != len(s.CaptionsInUse) {
		return nil, fmt.Errorf("%s: captions of %d samples are kept, of %d with captions in memory", s.Name, len(kept),
			len(s.CaptionsInUse))
	}
	for n, of := range s.CaptionsInUse {
		if len(kept[n]) != len(of) {
			return nil, fmt.Errorf("%s: sample %d%s has %d captions, and %d are kept or not", s.Name, n, s.called(n), len(of),
				len(kept[n]))
		}
	}
	said := make([][][]int32, len(kept))
	parallel.Each(len(kept), func(n int) {
		for c, k := range kept[n] {
			if k {
				said[n] = append(said[n], s.CaptionsInUse[n][c])
			}
		}
	})
	var bags []int
	for n, captions := range said {
		if len(captions) > 0 {
			bags = append(bags, n)
		}
	}
	whole := *s
	whole.CaptionsInUse = said
	whole.Labels, _ = CaptionMatrices(said, s.Vocabulary.Len())
	if len(bags) == len(said) {
		whole.Name = name
		return &whole, nil
	}
	return Subset(&whole, name, bags)
}
