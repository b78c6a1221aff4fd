package loader

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"nmn/rng"
	"nmn/text"
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
func FlipLabels(s *Set, rates FlipRates, seed uint64) (*Noise, error) {
	noise, err := newNoise(s, FlipNoise, seed)
	if err != nil {
		return nil, err
	}
	if err := rates.Validate(noise.Classes); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	noise.Rates = FlipRates{Missing: slices.Clone(rates.Missing), Incorrect: slices.Clone(rates.Incorrect)}
	key := rng.Derive(seed, "noise/flips")
	z, classes := s.Labels.Uint8s(), noise.Classes
	changes := make([]BagNoise, s.Len())
	inParallel(s.Len(), func(i int) {
		changes[i].Bag = i
		stream := rng.New(key, i)
		for k, label := range z[i*classes : (i+1)*classes] {
			p := rate(rates.Incorrect, k)
			if label == 1 {
				p = rate(rates.Missing, k)
			}
			if stream.Float64() < p {
				changes[i].Flips = append(changes[i].Flips, k)
			}
		}
	})
	noise.Changes = slices.DeleteFunc(changes, func(c BagNoise) bool { return len(c.Flips) == 0 })
	return noise, nil
}

// ReadFlipRates reads rates per class from a CSV file, see ParseFlipRates.
func ReadFlipRates(path string, vocabulary *text.Vocabulary) (FlipRates, error) {
	f, err := os.Open(path)
	if err != nil {
		return FlipRates{}, fmt.Errorf("flip rates: %w", err)
	}
	defer f.Close()
	return ParseFlipRates(path, f, vocabulary)
}

// ParseFlipRates reads a CSV table with a header that names the columns word, q01 and q10, in any
// order and among others: the table that NoiseStatistics writes is one. Words without a line, and
// empty fields, have the rate 0. Unknown and repeated words are errors that wrap ErrAnnotations.
func ParseFlipRates(name string, r io.Reader, vocabulary *text.Vocabulary) (FlipRates, error) {
	rates := FlipRates{Missing: make([]float64, vocabulary.Len()), Incorrect: make([]float64, vocabulary.Len())}
	table := csv.NewReader(r)
	table.ReuseRecord = true
	header, err := table.Read()
	if err != nil {
		return FlipRates{}, ratesError(name, 1, err)
	}
	column := map[string]int{}
	for i, title := range header {
		column[strings.ToLower(strings.TrimSpace(strings.TrimPrefix(title, "\ufeff")))] = i
	}
	for _, title := range []string{"word", "q01", "q10"} {
		if _, ok := column[title]; !ok {
			return FlipRates{}, ratesError(name, 1, fmt.Errorf("the header has no column %q; want word, q01, q10", title))
		}
	}
	seen := make([]bool, vocabulary.Len())
	for {
		record, err := table.Read()
		if errors.Is(err, io.EOF) {
			return rates, nil
		}
		line, _ := table.FieldPos(0)
		if err != nil {
			return FlipRates{}, ratesError(name, line, err)
		}
		k, ok := vocabulary.Index(record[column["word"]])
		if !ok || seen[k] {
			return FlipRates{}, ratesError(name, line, fmt.Errorf("%q is not a word of the vocabulary, or repeated", clipID(record[column["word"]])))
		}
		seen[k] = true
		for title, to := range map[string]*float64{"q01": &rates.Missing[k], "q10": &rates.Incorrect[k]} {
			field := strings.TrimSpace(record[column[title]])
			if field == "" {
				continue
			}
			p, err := strconv.ParseFloat(field, 64)
			if err != nil || !(p >= 0 && p <= 1) {
				return FlipRates{}, ratesError(name, line, fmt.Errorf("%s is %q, want a probability from 0 to 1", title, clipID(field)))
			}
			*to = p
		}
	}
}

func ratesError(name string, line int, err error) error {
	if errors.Is(err, io.EOF) {
		err = errors.New("the file is empty")
	}
	return fmt.Errorf("flip rates %q, line %d: %w: %w", name, line, err, ErrAnnotations)
}
