package loader

import (
	"fmt"
	"math"
	"slices"

	"nmn/rng"
)

// ReplaceCaptions draws the incorrect-label noise of the paper: in each bag, n captions chosen at
// random are replaced, each by a random caption of a random other bag. With 5 captions per bag,
// n = 1, 2, 3, 4 give the 20, 40, 60 and 80 % cases. A bag with fewer than n captions has all of
// them replaced. Bag i draws from the stream (seed, i) alone.
func ReplaceCaptions(s *Set, n int, seed uint64) (*Noise, error) {
	if s.Captions == nil {
		return nil, fmt.Errorf("%s: captions cannot be replaced: the labels do not come from captions; flip labels instead", s.Name)
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
