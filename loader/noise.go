package loader

import (
	"errors"
	"slices"
)

// NoiseKind is how labels are made wrong.
type NoiseKind string

// The kinds of label noise.
const (
	CaptionNoise NoiseKind = "captions" // captions replaced by those of other bags, labels recomputed
	FlipNoise    NoiseKind = "flips"    // labels flipped one by one
)

// ErrOtherSet is wrapped by the errors about noise that was made for another set than it is
// applied to. It comes with ErrAnnotations.
var ErrOtherSet = errors.New("the noise belongs to another set")

// Noise says which labels of a set become wrong: everything needed to make the same noisy labels
// again, with this program or another. It lists what was drawn, so that sharing it does not rest on
// the random numbers of this version.
type Noise struct {
	Kind NoiseKind
	Seed uint64
	// Replaced is the number of captions of each bag that are replaced (CaptionNoise).
	Replaced int
	// Rates are the probabilities the flips were drawn with (FlipNoise).
	Rates FlipRates
	// SetName, Bags, Classes, CaptionsPerBag and Fingerprint tell the set the noise was made for.
	SetName                       string
	Bags, Classes, CaptionsPerBag int
	Fingerprint                   string
	// Changes are by ascending bag; bags without a change are left out.
	Changes []BagNoise
}

// BagNoise are the changes of one bag.
type BagNoise struct {
	Bag      int
	Captions []Replacement // CaptionNoise, by ascending slot
	Flips    []int         // FlipNoise: the classes whose label is flipped, ascending
}

// Replacement puts a caption of another bag in the place of one of this bag. Captions are counted
// from 0 in the order of Set.Captions; the donor's is its original, never a replaced one.
type Replacement struct {
	Slot, Donor, DonorSlot int
}

// newNoise starts a noise for a set.
func newNoise(s *Set, kind NoiseKind, seed uint64) (*Noise, error) {
	if err := checkLabels(s, "labels", s.Labels); err != nil {
		return nil, err
	}
	if kind == CaptionNoise {
		if err := checkCaptions(s); err != nil {
			return nil, err
		}
	}
	return &Noise{
		Kind: kind, Seed: seed, SetName: s.Name, Bags: s.Len(), Classes: s.Vocabulary.Len(),
		CaptionsPerBag: s.CaptionsPerBag, Fingerprint: fingerprint(s, kind),
	}, nil
}

// Apply returns a copy of the set with noisy labels; everything else, also Truth, Counts and
// Captions, is that of s and shared with it. Caption noise starts from Captions, whatever Labels
// hold, so applying it twice is applying it once; flips start from Labels. The set must be the one
// that the noise was made for.
func (noise *Noise) Apply(s *Set) (*Set, error) {
	if err := noise.check(s); err != nil {
		return nil, err
	}
	noisy := *s
	classes := s.Vocabulary.Len() // of replaced captions, the vocabulary may be another than then
	if noise.Kind == CaptionNoise {
		noisy.Labels, _ = captionMatrices(noise.captions(s), classes)
		return &noisy, nil
	}
	z := slices.Clone(s.Labels.Uint8s())
	for _, change := range noise.Changes {
		for _, class := range change.Flips {
			z[change.Bag*classes+class] ^= 1
		}
	}
	noisy.Labels = Matrix(z, classes)
	return &noisy, nil
}

// captions returns the captions with the replaced ones in their places.
func (noise *Noise) captions(s *Set) [][][]int32 {
	replaced := slices.Clone(s.Captions)
	for _, change := range noise.Changes {
		own := slices.Clone(s.Captions[change.Bag])
		for _, r := range change.Captions {
			own[r.Slot] = s.Captions[r.Donor][r.DonorSlot]
		}
		replaced[change.Bag] = own
	}
	return replaced
}
