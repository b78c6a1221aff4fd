package loader

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"

	"nmn/rng"
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

// ReplaceCaptions draws the incorrect-label noise of the paper: in each bag, n captions chosen at
// random are replaced, each by a random caption of a random other bag. With 5 captions per bag,
// n = 1, 2, 3, 4 give the 20, 40, 60 and 80 % cases. A bag with fewer than n captions has all of
// them replaced. Bag i draws from the stream (seed, i) alone.
func ReplaceCaptions(s *Set, n int, seed uint64) (*Noise, error) {
	if s.Captions == nil || len(s.Captions) != s.Len() {
		return nil, fmt.Errorf("%s: captions cannot be replaced: the set has those of %d of %d bags; flip labels instead", s.Name, len(s.Captions), s.Len())
	}
	if n < 1 || n > s.CaptionsPerBag {
		return nil, fmt.Errorf("%s: cannot replace %d captions per bag, allowed are 1 to %d", s.Name, n, s.CaptionsPerBag)
	}
	noise, err := newNoise(s, CaptionNoise, seed)
	if err != nil {
		return nil, err
	}
	noise.Replaced = n
	var donors []int // bags that have a caption to give
	for i, captions := range s.Captions {
		if len(captions) > 0 {
			donors = append(donors, i)
		}
	}
	if len(donors) < 2 {
		return nil, fmt.Errorf("%s: captions of other bags are needed, but only %d bags have any", s.Name, len(donors))
	}
	key := rng.Derive(seed, "noise/captions")
	changes := make([]BagNoise, len(donors))
	inParallel(len(donors), func(at int) { changes[at] = drawReplacements(s, n, key, donors, at) })
	noise.Changes = changes
	return noise, nil
}

// drawReplacements draws the changes of bag donors[at].
func drawReplacements(s *Set, n int, key uint64, donors []int, at int) BagNoise {
	bag := donors[at]
	stream := rng.New(key, bag)
	slots := make([]int, len(s.Captions[bag]))
	for i := range slots {
		slots[i] = i
	}
	stream.Shuffle(slots)
	slots = slots[:min(n, len(slots))]
	slices.Sort(slots)
	change := BagNoise{Bag: bag, Captions: make([]Replacement, len(slots))}
	for i, slot := range slots {
		other := stream.Intn(len(donors) - 1)
		if other >= at { // every bag but this one, each as likely
			other++
		}
		donor := donors[other]
		change.Captions[i] = Replacement{Slot: slot, Donor: donor, DonorSlot: stream.Intn(len(s.Captions[donor]))}
	}
	return change
}

// CaptionsForRate returns how many of the captions of a bag make a noise rate, for example 2 of 5
// for .4. A rate between two numbers of captions is an error that names the possible ones.
func CaptionsForRate(s *Set, rate float64) (int, error) {
	exact := rate * float64(s.CaptionsPerBag)
	n := int(math.Round(exact))
	if !(math.Abs(exact-float64(n)) < 1e-6) || n < 1 || n > s.CaptionsPerBag {
		return 0, fmt.Errorf("%s: a rate of %g is not a whole number of its %d captions per bag; possible are multiples of %.4g up to 1",
			s.Name, rate, s.CaptionsPerBag, 1/float64(max(s.CaptionsPerBag, 1)))
	}
	return n, nil
}

// newNoise starts a noise for a set.
func newNoise(s *Set, kind NoiseKind, seed uint64) (*Noise, error) {
	if err := checkLabels(s, "labels", s.Labels); err != nil {
		return nil, err
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
	k := noise.Classes
	z := make([]uint8, noise.Bags*k)
	copy(z, s.Labels.Uint8s())
	switch noise.Kind {
	case CaptionNoise:
		noisy.Labels, _ = captionMatrices(noise.captions(s), k)
		return &noisy, nil
	case FlipNoise:
		for _, change := range noise.Changes {
			for _, class := range change.Flips {
				z[change.Bag*k+class] ^= 1
			}
		}
	}
	noisy.Labels = matrix(z, k)
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

// check says why the noise cannot be applied to a set.
func (noise *Noise) check(s *Set) error {
	if err := noise.checkSet(s); err != nil {
		return err
	}
	for at, change := range noise.Changes {
		if err := noise.checkChange(s, at, change); err != nil {
			return fmt.Errorf("noise for %q, change %d: %w: %w", noise.SetName, at, err, ErrAnnotations)
		}
	}
	return nil
}

// checkSet says why the noise belongs to another set.
func (noise *Noise) checkSet(s *Set) error {
	if err := checkLabels(s, "labels", s.Labels); err != nil {
		return err
	}
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("noise made for %q, applied to %q: %s: %w: %w", noise.SetName, s.Name, fmt.Sprintf(format, args...), ErrOtherSet, ErrAnnotations)
	}
	if noise.Kind != CaptionNoise && noise.Kind != FlipNoise {
		return fmt.Errorf("noise of the unknown kind %q: %w", noise.Kind, ErrAnnotations)
	}
	if noise.Bags != s.Len() {
		return wrong("%d bags, want %d", s.Len(), noise.Bags)
	}
	if noise.Kind == FlipNoise && noise.Classes != s.Vocabulary.Len() {
		return wrong("%d classes, want %d", s.Vocabulary.Len(), noise.Classes)
	}
	if noise.Kind == CaptionNoise && len(s.Captions) != s.Len() {
		return wrong("it has no captions")
	}
	if got := fingerprint(s, noise.Kind); got != noise.Fingerprint {
		return wrong("its fingerprint is %.16s, want %.16s: other bags, another order, other captions or labels", got, noise.Fingerprint)
	}
	return nil
}

// checkChange says what is out of range in one change.
func (noise *Noise) checkChange(s *Set, at int, change BagNoise) error {
	if change.Bag < 0 || change.Bag >= noise.Bags {
		return fmt.Errorf("bag %d is outside 0 to %d", change.Bag, noise.Bags-1)
	}
	if at > 0 && change.Bag <= noise.Changes[at-1].Bag {
		return fmt.Errorf("bag %d follows bag %d; bags must ascend", change.Bag, noise.Changes[at-1].Bag)
	}
	if noise.Kind == FlipNoise {
		return checkAscending("flipped class", change.Flips, noise.Classes)
	}
	slots := make([]int, len(change.Captions))
	for i, r := range change.Captions {
		slots[i] = r.Slot
		if r.Donor < 0 || r.Donor >= noise.Bags || r.Donor == change.Bag {
			return fmt.Errorf("bag %d: donor %d is not another bag of 0 to %d", change.Bag, r.Donor, noise.Bags-1)
		}
		if n := len(s.Captions[r.Donor]); r.DonorSlot < 0 || r.DonorSlot >= n {
			return fmt.Errorf("bag %d: caption %d of donor %d, which has %d", change.Bag, r.DonorSlot, r.Donor, n)
		}
	}
	return checkAscending("replaced caption", slots, len(s.Captions[change.Bag]))
}

func checkAscending(what string, indices []int, n int) error {
	last := -1
	for _, i := range indices {
		if i <= last || i >= n {
			return fmt.Errorf("%s %d follows %d; they must ascend and stay below %d", what, i, last, n)
		}
		last = i
	}
	return nil
}

// fingerprint identifies a set as far as a kind of noise depends on it. Replaced captions depend on
// the ids and the number of captions of each bag, and so may be shared between vocabularies; flips
// depend on the ids, the words and the labels.
func fingerprint(s *Set, kind NoiseKind) string {
	h := sha256.New()
	put := func(b []byte) {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:]) // lengths keep "ab","c" apart from "a","bc"
		h.Write(b)
	}
	put([]byte(kind))
	for i, id := range s.IDs {
		put([]byte(id))
		if kind == CaptionNoise {
			put(binary.LittleEndian.AppendUint32(nil, uint32(len(s.Captions[i]))))
		}
	}
	if kind == FlipNoise {
		for k := range s.Vocabulary.Len() {
			put([]byte(s.Vocabulary.Word(k).Text))
		}
		put(s.Labels.Uint8s())
	}
	return hex.EncodeToString(h.Sum(nil))
}
