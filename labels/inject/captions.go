package inject

import (
	"fmt"
	"math"
	"slices"

	"nmn/internal/parallel"
	"nmn/internal/rng"
	"nmn/loader"
)

// ReplaceCaptions draws the incorrect-label noise of the paper: in each bag, n captions chosen at
// random are replaced, each by a random caption of a random other bag. With 5 captions per bag,
// n = 1, 2, 3, 4 give the 20, 40, 60 and 80 % cases. A bag with fewer than n captions has all of
// them replaced. Bag i draws from the stream (seed, i) alone.
func ReplaceCaptions(s *loader.Set, n int, seed uint64) (*Injection, error) {
	if s.Captions == nil {
		return nil, fmt.Errorf(
			"%s: captions cannot be replaced: the labels do not come from captions; flip labels instead", s.Name)
	}
	if err := checkReplaced(s, n); err != nil {
		return nil, err
	}
	noise, err := newInjection(s, Captions, seed)
	if err != nil {
		return nil, err
	}
	noise.Replaced = n
	from := donors{bags: s.Len()}
	for i, captions := range s.Captions {
		if len(captions) == 0 {
			from.without = append(from.without, i)
		}
	}
	if err := from.check(s); err != nil {
		return nil, err
	}
	draw := replacementDraw{n: n, key: rng.Derive(seed, captionStream), donors: &from,
		captions: func(bag int) (int, error) { return len(s.Captions[bag]), nil }}
	noise.Changes = make([]BagChanges, from.len())
	parallel.Each(from.len(), func(rank int) {
		bag := from.at(rank)
		noise.Changes[rank], _ = draw.of(bag, len(s.Captions[bag])) // captions in memory can be counted
	})
	return noise, nil
}

// captionStream names the random stream of replaced captions.
const captionStream = "noise/captions"

func checkReplaced(s *loader.Set, n int) error {
	if n < 1 || n > s.CaptionsPerBag {
		return fmt.Errorf("%s: cannot replace %d captions per sample, allowed are 1 to %d", s.Name, n, s.CaptionsPerBag)
	}
	return nil
}

// replacementDraw draws what becomes of the captions of bags.
type replacementDraw struct {
	n        int
	key      uint64
	donors   *donors
	captions func(bag int) (int, error) // how many a donor has; called once for each replacement, in order
}

// of draws the changes of a bag with the given number of own captions.
func (d *replacementDraw) of(bag, own int) (BagChanges, error) {
	stream := rng.New(d.key, bag)
	slots := make([]int, own)
	for i := range slots {
		slots[i] = i
	}
	stream.Shuffle(slots)
	slots = slots[:min(d.n, len(slots))]
	slices.Sort(slots)
	change := BagChanges{Bag: bag, Captions: make([]Replacement, len(slots))}
	rank := d.donors.rank(bag)
	for i, slot := range slots {
		other := stream.Intn(d.donors.len() - 1)
		if other >= rank { // every bag but this one, each as likely
			other++
		}
		donor := d.donors.at(other)
		captions, err := d.captions(donor)
		if err != nil {
			return change, err
		}
		change.Captions[i] = Replacement{Slot: slot, Donor: donor, DonorSlot: stream.Intn(captions)}
	}
	return change, nil
}

// CaptionsForShare returns how many of the captions of a bag make a share, for example 2 of 5
// for .4. A share between two numbers of captions is an error that names the possible ones.
func CaptionsForShare(s *loader.Set, share float64) (int, error) {
	exact := share * float64(s.CaptionsPerBag)
	n := int(math.Round(exact))
	if !(math.Abs(exact-float64(n)) < 1e-6) || n < 1 || n > s.CaptionsPerBag {
		return 0, fmt.Errorf("%s: a share of %g is not a whole number of its %d captions per sample; possible are "+
			"multiples of %.4g up to 1",
			s.Name, share, s.CaptionsPerBag, 1/float64(max(s.CaptionsPerBag, 1)))
	}
	return n, nil
}
