package inject

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nmn/internal/durable"
	"nmn/loader"
	"nmn/text"
)

// Rate is a probability, NaN if undefined (no bag has the class). In JSON NaN is null.
type Rate float64

// MarshalJSON writes the shortest number that reads back as the same, or null.
func (r Rate) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(r)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(r))
}

// String returns the number as in CSV: empty if undefined.
func (r Rate) String() string {
	if math.IsNaN(float64(r)) {
		return ""
	}
	return strconv.FormatFloat(float64(r), 'g', 6, 64)
}

func ratio(n, of int) Rate { return Rate(float64(n) / float64(of)) } // 0/0 is NaN

// ClassStatistics counts how the observed labels z of one class differ from the reference y.
type ClassStatistics struct {
	Word string `json:"class"`
	POS  string `json:"pos,omitempty"` // empty where words have no parts of speech
	// Bags counts the bags by z (first index) and y (second index).
	Bags [2][2]int `json:"samples"`
	// T is the transition matrix: T[i][j] = p(z=i|y=j). Each column j sums to one.
	T [2][2]Rate `json:"transition"`
	// Q01 = T[0][1] = p(z=0|y=1) is the rate of missing labels, Q10 = T[1][0] = p(z=1|y=0) the rate of
	// incorrect labels.
	Q01 Rate `json:"q01"`
	Q10 Rate `json:"q10"`
	// Prevalence is p(y=1), Observed is p(z=1), Wrong is p(y=0|z=1): the share of the given labels
	// that are incorrect.
	Prevalence Rate `json:"prevalence"`
	Observed   Rate `json:"observed"`
	Wrong      Rate `json:"wrong"`
}

// Statistics are the rates of incorrect and missing labels of a set.
type Statistics struct {
	Set string `json:"set"`
	// Reference names the source of y: "truth" if the true labels are known, else "labels": the labels before
	// the noise, which lack labels that no caption mentions.
	Reference string            `json:"reference"`
	Bags      int               `json:"samples"`
	Classes   []ClassStatistics `json:"classes"`
	// All pools all pairs of bag and class; Mean holds the means of the rates over the classes that
	// have them (its Bags are 0).
	All  ClassStatistics `json:"all"`
	Mean ClassStatistics `json:"mean"`
}

// Measure compares the labels of noisy with the truth of clean or, if that is unknown, with the labels of
// clean. Both must have the same bags and classes in the same order. They may be the same Set, to measure how
// far its labels are from its truth without injected noise.
func Measure(ctx context.Context, clean, noisy *loader.Set) (*Statistics, error) {
	for _, s := range []*loader.Set{clean, noisy} {
		if s.Rows == nil {
			if err := loader.CheckLabels(s, "labels", s.Labels); err != nil {
				return nil, err
			}
		}
	}
	if clean.Truth != nil {
		if err := loader.CheckLabels(clean, "truth", clean.Truth); err != nil {
			return nil, err
		}
	}
	n, k := clean.Len(), clean.Vocabulary.Len()
	if noisy.Len() != n || noisy.Vocabulary.Len() != k {
		return nil, fmt.Errorf("statistics of noise: %s is %d samples × %d classes, %s is %d × %d",
			clean.Name, n, k, noisy.Name, noisy.Len(), noisy.Vocabulary.Len())
	}
	counts, name := make(loader.Confusion, k), "labels"
	var before loader.Row
	err := noisy.EachRow(ctx, func(bag int, row *loader.Row) error {
		if err := clean.Row(ctx, bag, &before); errors.Is(err, loader.ErrCorrupt) {
			before = loader.Row{Labels: before.Labels[:0], Truth: before.Truth[:0]} // nothing is known of it
		} else if err != nil {
			return err
		}
		reference := before.Labels
		if before.Known {
			reference, name = before.Truth, "truth"
		}
		counts.Add(row.Labels, reference, nil)
		return nil
	})
	if err != nil {
		return nil, err
	}
	counts.Complete(n, nil)
	return newStatistics(noisy, name, counts), nil
}

// OfCensus compares the labels of a set with its truth, which must be known, by a census of the set.
func OfCensus(c *loader.Census, s *loader.Set) *Statistics {
	return newStatistics(s, "truth", c.Confusion)
}

func newStatistics(noisy *loader.Set, reference string, counts loader.Confusion) *Statistics {
	s := &Statistics{
		Set:       noisy.Name,
		Reference: reference,
		Bags:      noisy.Len(),
		Classes:   make([]ClassStatistics, len(counts)),
	}
	s.All.Word, s.Mean.Word = "(all)", "(mean)"
	hasPOS := noisy.Vocabulary.HasPOS()
	for c := range s.Classes {
		class, word := &s.Classes[c], noisy.Vocabulary.Word(c)
		if class.Word, class.Bags = word.Text, counts[c]; hasPOS {
			class.POS = word.POS.String()
		}
		class.finish()
		for i := range 2 {
			for j := range 2 {
				s.All.Bags[i][j] += class.Bags[i][j]
			}
		}
	}
	s.All.finish()
	s.Mean.average(s.Classes)
	return s
}

func (c *ClassStatistics) finish() {
	b := c.Bags
	for j := range 2 {
		for i := range 2 {
			c.T[i][j] = ratio(b[i][j], b[0][j]+b[1][j])
		}
	}
	total := b[0][0] + b[0][1] + b[1][0] + b[1][1]
	c.Q01, c.Q10 = c.T[0][1], c.T[1][0]
	c.Prevalence = ratio(b[0][1]+b[1][1], total)
	c.Observed = ratio(b[1][0]+b[1][1], total)
	c.Wrong = ratio(b[1][0], b[1][0]+b[1][1])
}

func (c *ClassStatistics) rates() []*Rate {
	return []*Rate{&c.T[0][0], &c.T[0][1], &c.T[1][0], &c.T[1][1], &c.Q01, &c.Q10, &c.Prevalence, &c.Observed, &c.Wrong}
}

// average sets each rate to its mean over the classes that have it.
func (c *ClassStatistics) average(classes []ClassStatistics) {
	for r, mean := range c.rates() {
		sum, n := 0.0, 0
		for k := range classes {
			if v := float64(*classes[k].rates()[r]); !math.IsNaN(v) {
				sum, n = sum+v, n+1
			}
		}
		*mean = Rate(sum / float64(n)) // NaN for no class
	}
}

// WriteCSV writes one line per class: its name, pos (if words have parts of speech), the four counts n_zy, q01,
// q10, prevalence, observed, wrong, and the reference. parseFlipRates reads it back as the rates of flips, so
// the rows over all classes are only in WriteJSON.
func (s *Statistics) WriteCSV(w io.Writer) error {
	table := csv.NewWriter(w)
	hasPOS := slices.ContainsFunc(s.Classes, func(c ClassStatistics) bool { return c.POS != "" })
	name := func(text, pos string) []string {
		if hasPOS {
			return []string{text, pos}
		}
		return []string{text}
	}
	table.Write(append(name("class", "pos"), "n00", "n01", "n10", "n11", "q01", "q10", "prevalence", "observed", "wrong",
		"reference"))
	for _, c := range s.Classes {
		record := name(c.Word, c.POS)
		for _, n := range []int{c.Bags[0][0], c.Bags[0][1], c.Bags[1][0], c.Bags[1][1]} {
			record = append(record, strconv.Itoa(n))
		}
		for _, r := range []Rate{c.Q01, c.Q10, c.Prevalence, c.Observed, c.Wrong} {
			record = append(record, r.String())
		}
		table.Write(append(record, s.Reference))
	}
	table.Flush() // errors of Write show up here
	return table.Error()
}

// WriteJSON writes everything.
func (s *Statistics) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", " ")
	return encoder.Encode(s)
}

// WriteText prints the means as text. noun names bags, such as pictures.
func (s *Statistics) WriteText(w io.Writer, noun text.Plural) error {
	_, err := fmt.Fprintf(w, "%s, %d %s, %d classes, against the %s:\n"+
		"  missing labels    q01 = p(z=0|y=1)  %5.1f %%\n"+
		"  incorrect labels  q10 = p(z=1|y=0)  %5.1f %%\n"+
		"  of the labels that are set, %.1f %% are incorrect\n(means over classes)\n",
		s.Set, s.Bags, noun, len(s.Classes), s.Reference,
		100*float64(s.Mean.Q01), 100*float64(s.Mean.Q10), 100*float64(s.Mean.Wrong))
	return err
}

// WriteFile writes CSV or JSON, depending on the extension of the name. The file appears complete or not at
// all.
func (s *Statistics) WriteFile(path string) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		return durable.Stream(path, 0o644, s.WriteCSV)
	case ".json":
		return durable.Stream(path, 0o644, s.WriteJSON)
	}
	return fmt.Errorf("cannot write %q: the name must end in .csv or .json", path)
}
