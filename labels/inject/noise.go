package inject

import (
	"errors"
	"slices"

	"nmn/internal/setting"
	"nmn/labels"
	"nmn/loader"
)

// Kind is how labels are made wrong.
type Kind string

// The kinds of label noise. All but Flips replace captions by captions of other bags, and labels follow.
const (
	Uniform Kind = "uniform" // the paper's: n captions of each bag, each from a random other bag
	Uneven  Kind = "uneven"  // Uniform, but the share of each bag is drawn from Beta(share, 1-share)
	Content Kind = "content" // Uneven, but the shares go to the bags by what their captions mention
	Similar Kind = "similar" // n captions of each bag, each from the most similar of 60 random other bags
	Pair    Kind = "pair"    // n captions of each bag, all from one random other bag
	Shift   Kind = "shift"   // all captions of a share of the bags, from the next bag; the last bag's from the first
	Flips   Kind = "flips"   // labels flipped one by one

	// Symmetric, Asymmetric and Instance relabel a share of the bags that have exactly one label: with a random other
	// class, with the next one, or with the class that the bag is nearest to. Their changes are listed as Flips.
	Symmetric  Kind = "symmetric"
	Asymmetric Kind = "asymmetric"
	Instance   Kind = "instance"
)

// CaptionKinds lists the kinds that replace captions.
func CaptionKinds() []Kind { return []Kind{Uniform, Uneven, Content, Similar, Pair, Shift} }

// IsZero reports whether files leave out the kind. A file that names no kind has the noise of the paper, Uniform.
func (k Kind) IsZero() bool { return k == "" || k == Uniform }

// Relabels reports whether the kind replaces the one label of a bag.
func (k Kind) Relabels() bool { return k == Symmetric || k == Asymmetric || k == Instance }

// Remark is the kind as a remark on a share of noise. It is empty for the noise of the paper.
func (k Kind) Remark() string {
	if k.IsZero() {
		return ""
	}
	return string(k)
}

func (k Kind) replaces() bool { return slices.Contains(CaptionKinds(), k) }

// all reports whether a draw needs the captions of all bags.
func (k Kind) all() bool { return k == Similar || k == Content }

// whole reports whether the share is a whole number of each bag's captions.
func (k Kind) whole() bool { return k == Uniform || k == Similar || k == Pair }

// ErrOtherSet is wrapped by the errors about noise that was made for another set than it is
// applied to. It comes with ErrAnnotations.
var ErrOtherSet = errors.New("the noise belongs to another set")

// Injection lists which labels of a set become wrong: everything needed to make the same noisy labels again,
// with this program or another. It lists the drawn changes, so sharing it does not depend on the random
// numbers of this version.
type Injection struct {
	Kind Kind
	Seed uint64
	// Share is the share of captions that are replaced (all kinds but Flips): of each bag, or for Uneven, Content
	// and Shift the expected share of all bags.
	Share float64
	// Rates are the probabilities the flips were drawn with (Flips).
	Rates labels.Rates
	// SetName, Bags, Classes, CaptionsPerSample and Fingerprint identify the set the noise was made for.
	SetName                          string
	Bags, Classes, CaptionsPerSample int
	Fingerprint                      string
	// Changes are by ascending bag; bags without a change are left out.
	Changes []BagChanges
}

// BagChanges are the changes of one bag.
type BagChanges struct {
	Bag      int
	Captions []Replacement // all kinds but Flips, by ascending slot
	Flips    []int         // Flips: the classes whose label is flipped, ascending
}

// Replacement puts a caption of another bag in the place of one of this bag. Captions are counted
// from 0 in the order of Set.Captions; the donor's is its original, never a replaced one.
type Replacement struct {
	Slot, Donor, DonorSlot int
}

func newInjection(s *loader.Set, kind Kind, seed uint64) (*Injection, error) {
	if err := loader.CheckLabels(s, "labels", s.Labels); err != nil {
		return nil, err
	}
	if kind.replaces() {
		if err := checkCaptions(s); err != nil {
			return nil, err
		}
	}
	return &Injection{
		Kind: kind, Seed: seed, SetName: s.Name, Bags: s.Len(), Classes: s.Vocabulary.Len(),
		CaptionsPerSample: s.CaptionsPerSample, Fingerprint: fingerprint(s, kind),
	}, nil
}

// Apply returns a copy of the set with noisy labels and a matching Said. Everything else, also Truth, Counts
// and Captions, is shared with s. Caption noise starts from Captions, whatever Labels holds, so applying it
// twice equals applying it once; flips start from Labels. The set must be the one for which the noise was
// made.
func (noise *Injection) Apply(s *loader.Set) (*loader.Set, error) {
	if err := noise.check(s); err != nil {
		return nil, err
	}
	noisy := *s
	classes := s.Vocabulary.Len() // for replaced captions, the vocabulary may have changed since
	if noise.Kind.replaces() {
		noisy.CaptionsInUse = noise.captions(s)
		noisy.Labels, _ = loader.CaptionMatrices(noisy.CaptionsInUse, classes)
		return &noisy, nil
	}
	z := slices.Clone(s.Labels.Uint8s())
	for _, change := range noise.Changes {
		for _, class := range change.Flips {
			z[change.Bag*classes+class] ^= 1
		}
	}
	noisy.Labels, noisy.CaptionsInUse = loader.Matrix(z, classes), nil
	return &noisy, nil
}

// captions returns the captions with the replaced ones in their places.
func (noise *Injection) captions(s *loader.Set) [][][]int32 {
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

// labelsOf are the labels of a bag, 0 or 1 for each class.
func labelsOf(s *loader.Set, bag int) []uint8 {
	k := s.Vocabulary.Len()
	return s.Labels.Uint8s()[bag*k : (bag+1)*k]
}

// Plan describes the noise to draw for a set.
type Plan struct {
	Kind Kind
	// Share is the share of captions to replace, as in ReplaceCaptions (all kinds but Flips).
	Share float64
	// Missing and Incorrect are the probabilities that a label that holds goes missing, and that one that
	// does not hold is set (Flips). If RatesFile is not empty, it has both for each word instead.
	Missing, Incorrect float64
	RatesFile          string
	Seed               uint64
}

// Draw draws the noise. A share or rate that the set cannot have is a *setting.Error.
func (p Plan) Draw(set *loader.Set) (*Injection, error) {
	if p.Kind != Flips {
		if _, err := newReplacementDraw(set, p.Kind, p.Share, p.Seed); err != nil {
			return nil, &setting.Error{Key: "share", Reason: err}
		}
		return ReplaceCaptions(set, p.Kind, p.Share, p.Seed)
	}
	rates := uniformRates(p.Missing, p.Incorrect)
	if p.RatesFile != "" {
		var err error
		if rates, err = ReadFlipRates(p.RatesFile, set.Vocabulary); err != nil {
			return nil, err
		}
	}
	if err := checkFlipRates(rates, set.Vocabulary.Len()); err != nil {
		return nil, &setting.Error{Key: "flip_rates", Reason: err}
	}
	return FlipLabels(set, rates, p.Seed)
}
