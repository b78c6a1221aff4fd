package noise

import (
	"fmt"
	"slices"

	"nmn/internal/parallel"
	"nmn/internal/rng"
	"nmn/loader"
)

// FlipRates are the probabilities of label flips: one for all classes, or one per class. No entry
// means none. Missing is q01 = p(z=0|y=1), Incorrect is q10 = p(z=1|y=0), with the labels before
// the flips in the place of y.
type FlipRates struct {
	Missing   []float64 `json:"missing,omitempty"`
	Incorrect []float64 `json:"incorrect,omitempty"`
}

// UniformRates flips every class alike.
func UniformRates(missing, incorrect float64) FlipRates {
	return FlipRates{Missing: []float64{missing}, Incorrect: []float64{incorrect}}
}

// RandomRates draws rates for each class on its own, uniformly from (1-spread) to (1+spread) times a
// mean, at most 1: noise that depends on the class.
func RandomRates(classes int, missing, incorrect, spread float64, seed uint64) FlipRates {
	r := FlipRates{Missing: make([]float64, classes), Incorrect: make([]float64, classes)}
	key := rng.Derive(seed, "noise/rates")
	for k := range classes {
		stream := rng.New(key, k)
		around := func(mean float64) float64 { return min(1, mean*(1+spread*(2*stream.Float64()-1))) }
		r.Missing[k], r.Incorrect[k] = around(missing), around(incorrect)
	}
	return r
}

// Validate says which rate is not a probability or does not fit the number of classes.
func (r FlipRates) Validate(classes int) error {
	for _, side := range []struct {
		name  string
		rates []float64
	}{{"Missing", r.Missing}, {"Incorrect", r.Incorrect}} {
		if n := len(side.rates); n > 1 && n != classes {
			return fmt.Errorf("flip rates: %s has %d entries, want 1 or one for each of %d classes", side.name, n, classes)
		}
		for k, p := range side.rates {
			if !(p >= 0 && p <= 1) {
				return fmt.Errorf("flip rates: %s[%d] = %g, want a probability from 0 to 1", side.name, k, p)
			}
		}
	}
	return nil
}

// rate returns entry k of a list that may have one entry for all.
func rate(rates []float64, k int) float64 {
	switch len(rates) {
	case 0:
		return 0
	case 1:
		return rates[0]
	}
	return rates[k]
}

// FlipLabels draws noise for data without captions: each label 1 turns 0 with the rate Missing of
// its class, each 0 turns 1 with the rate Incorrect, all independently. Bag i draws one number per
// class from the stream (seed, i), whatever the rates: with larger rates, the flips of smaller ones
// remain and others join them.
func FlipLabels(s *loader.Set, rates FlipRates, seed uint64) (*Injection, error) {
	noise, err := newInjection(s, Flips, seed)
	if err != nil {
		return nil, err
	}
	if err := rates.Validate(noise.Classes); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	noise.Rates = FlipRates{Missing: slices.Clone(rates.Missing), Incorrect: slices.Clone(rates.Incorrect)}
	draw := newFlipDraw(noise.Classes, noise.Rates, seed)
	changes := make([]BagChanges, s.Len())
	parallel.Each(s.Len(), func(i int) { changes[i] = BagChanges{Bag: i, Flips: draw.of(i, labelsOf(s, i))} })
	noise.Changes = slices.DeleteFunc(changes, func(c BagChanges) bool { return len(c.Flips) == 0 })
	return noise, nil
}

// flipDraw draws which labels of bags are flipped.
type flipDraw struct {
	classes int
	rates   FlipRates
	key     uint64
}

func newFlipDraw(classes int, rates FlipRates, seed uint64) flipDraw {
	return flipDraw{classes, rates, rng.Derive(seed, "noise/flips")}
}

// of lists the classes whose label of a bag is flipped, ascending.
func (d *flipDraw) of(bag int, labels []uint8) (flips []int) {
	stream := rng.New(d.key, bag)
	for k, label := range labels {
		p := rate(d.rates.Incorrect, k)
		if label == 1 {
			p = rate(d.rates.Missing, k)
		}
		if stream.Float64() < p {
			flips = append(flips, k)
		}
	}
	return flips
}
