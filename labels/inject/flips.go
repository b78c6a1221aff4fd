package inject

import (
	"fmt"
	"io"
	"slices"

	"nmn/internal/input"
	"nmn/internal/parallel"
	"nmn/internal/rng"
	"nmn/labels"
	"nmn/loader"
	"nmn/text"
)

// uniformRates returns rates of flips that are equal for every class. Rates of flips have one entry for all
// classes, one for each, or none if nothing is flipped; the labels before the flips replace the true ones.
func uniformRates(q01, q10 float64) labels.Rates {
	return labels.Rates{Q01: []float64{q01}, Q10: []float64{q10}}
}

// RandomRates draws rates for each class on its own, uniformly from (1-spread) to (1+spread) times a
// mean, at most 1: noise that depends on the class.
func RandomRates(classes int, q01, q10, spread float64, seed uint64) labels.Rates {
	r := labels.NewRates(classes)
	key := rng.Derive(seed, "noise/rates")
	for k := range classes {
		stream := rng.New(key, k)
		around := func(mean float64) float64 { return min(1, mean*(1+spread*(2*stream.Float64()-1))) }
		r.Q01[k], r.Q10[k] = around(q01), around(q10)
	}
	return *r
}

// checkFlipRates names the rate of flips that is not a probability, or the list that does not fit the number of
// classes.
func checkFlipRates(r labels.Rates, classes int) error {
	for _, side := range []struct {
		name  string
		rates []float64
	}{{"Missing", r.Q01}, {"Incorrect", r.Q10}} {
		if n := len(side.rates); n > 1 && n != classes {
			return fmt.Errorf("flip rates: %s has %d entries, want 1 or one for each of %d classes",
				side.name, n, classes)
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

// FlipLabels draws noise for data without captions: each label 1 turns 0 with the rate Q01 of
// its class, each 0 turns 1 with the rate Q10, all independently. Bag i draws one number per
// class from the stream (seed, i), whatever the rates: with larger rates, the flips of smaller ones
// remain and others join them.
func FlipLabels(s *loader.Set, rates labels.Rates, seed uint64) (*Injection, error) {
	noise, err := newInjection(s, Flips, seed)
	if err != nil {
		return nil, err
	}
	if err := checkFlipRates(rates, noise.Classes); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	noise.Rates = labels.Rates{Q01: slices.Clone(rates.Q01), Q10: slices.Clone(rates.Q10)}
	draw := newFlipDraw(noise.Classes, noise.Rates, seed)
	changes := make([]BagChanges, s.Len())
	parallel.Each(s.Len(), func(i int) { changes[i] = BagChanges{Bag: i, Flips: draw.of(i, labelsOf(s, i))} })
	noise.Changes = slices.DeleteFunc(changes, func(c BagChanges) bool { return len(c.Flips) == 0 })
	return noise, nil
}

// flipDraw draws which labels of bags are flipped.
type flipDraw struct {
	classes int
	rates   labels.Rates
	key     uint64
}

func newFlipDraw(classes int, rates labels.Rates, seed uint64) flipDraw {
	return flipDraw{classes, rates, rng.Derive(seed, "noise/flips")}
}

// of lists the classes whose label of a bag is flipped, ascending.
func (d *flipDraw) of(bag int, labels []uint8) (flips []int) {
	stream := rng.New(d.key, bag)
	for k, label := range labels {
		p := rate(d.rates.Q10, k)
		if label == 1 {
			p = rate(d.rates.Q01, k)
		}
		if stream.Float64() < p {
			flips = append(flips, k)
		}
	}
	return flips
}

// ReadFlipRates reads rates per class from a CSV file, see parseFlipRates.
func ReadFlipRates(path string, vocabulary *text.Vocabulary) (labels.Rates, error) {
	f, err := input.OpenFile(path)
	if err != nil {
		return labels.Rates{}, fmt.Errorf("flip rates: %w", err)
	}
	defer f.Close()
	return parseFlipRates(path, f, vocabulary)
}

// parseFlipRates reads a CSV table with a header that names the columns class, q01 and q10, in any
// order and among others: the table that Statistics writes is one. Words without a line, and
// empty fields, have the rate 0. Unknown and repeated classes are errors that wrap loader.ErrAnnotations.
func parseFlipRates(name string, r io.Reader, vocabulary *text.Vocabulary) (labels.Rates, error) {
	table, err := labels.Read(r, vocabulary, labels.Flips)
	if err != nil {
		return labels.Rates{}, loader.Unusable(fmt.Errorf("flip rates %q, %w", name, err))
	}
	return *table.Rates(), nil
}
