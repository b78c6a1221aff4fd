package loader

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"nmn/internal/fault"
	"nmn/loader/features"
	"nmn/text"
)

// FeatureSet makes a set of the rows of a table, one bag each. The vocabulary holds the classes; nil
// makes one of the table's labels, which then need to be there. Rows without identifiers are named by
// their number, from 1. A table without labels, for prediction, gives a set whose Labels are 0.
func FeatureSet(name string, t *features.Table, vocabulary *text.Vocabulary) (*Set, error) {
	if t.Labels == nil && vocabulary == nil {
		return nil, Unusable(fmt.Errorf("%s: %q has no labels; give a file of them (`data.features.train.labels`), or "+
			"say which columns are labels (`data.features.label_columns`)",
			name, t.Name))
	}
	if vocabulary == nil {
		var err error
		if vocabulary, err = labelVocabulary(t.Labels); err != nil {
			return nil, Unusable(fmt.Errorf("%s: %q: %w", name, t.Name, err))
		}
	}
	n, k := t.Rows.Len(), vocabulary.Len()
	s := &Set{
		Name:       name,
		Vocabulary: vocabulary,
		IDs:        t.IDs,
		Vectors:    &tableVectors{rows: t.Rows},
		Columns:    t.Columns,
		Labels:     Matrix(make([]uint8, n*k), k),
		Weights:    t.Weights,
	}
	if s.IDs == nil {
		s.IDs = numbered(n)
	}
	if t.Labels != nil {
		s.Labels = Matrix(t.Labels.Values, k)
	}
	if t.Truth != nil {
		s.Truth = Matrix(t.Truth.Values, k)
	}
	if t.Counts != nil {
		s.Counts = Matrix(t.Counts.Values, k)
	}
	return s, checkMatrix(s, "labels", s.Labels, true)
}

// labelVocabulary makes the classes of labels, with the number of their rows.
func labelVocabulary(l *features.Labels) (*text.Vocabulary, error) {
	words := make([]text.Word, len(l.Words))
	for k, word := range l.Words {
		words[k] = text.Word{Text: word, POS: text.Others}
	}
	for i, z := range l.Values {
		if z != UnknownLabel {
			words[i%len(words)].Count += int(z)
		}
	}
	return text.NewVocabulary(words)
}

// numbered names rows by their number.
func numbered(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = strconv.Itoa(i + 1)
	}
	return ids
}

// tableVectors are the rows of a table.
type tableVectors struct{ rows features.Rows }

func (t *tableVectors) Frames(int) int { return 1 }
func (t *tableVectors) Width() int     { return t.rows.Width() }

func (t *tableVectors) Read(ctx context.Context, bag, _ int, dst []float32) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := t.rows.Read(bag, dst)
	if errors.Is(err, features.ErrValue) {
		return fault.As(ErrCorrupt, err) // without its text, which is about pictures
	}
	return err
}

// Standard brings the columns of feature vectors to one scale: (x - Mean) · Scale, and 0, the mean, for
// a missing value.
type Standard struct {
	Mean, Scale []float32 // D each
}

// newStandard brings columns to mean 0 and deviation 1. A column that is constant in the measured rows
// becomes 0 everywhere: nothing could be learned about it.
func newStandard(m *features.Moments) *Standard {
	s := &Standard{Mean: make([]float32, len(m.Mean)), Scale: make([]float32, len(m.Mean))}
	for c, deviation := range m.Deviation {
		s.Mean[c] = float32(m.Mean[c])
		if scale := float32(1 / deviation); deviation > 0 && !math.IsInf(float64(scale), 0) {
			s.Scale[c] = scale
		}
	}
	return s
}

// Measure reads the vectors of all frames of a set once and returns the standard of their columns. Rows
// that cannot be used are passed over.
func Measure(ctx context.Context, set *Set) (*Standard, *features.Moments, error) {
	if set.Vectors == nil {
		return nil, nil, fmt.Errorf("%s: a standard needs features, and this set has pictures", set.Name)
	}
	m, err := features.Measure(set.Vectors.Width(), func(yield func([]float32, error) bool) {
		row := make([]float32, set.Vectors.Width())
		for bag := range set.Len() {
			for frame := range set.Vectors.Frames(bag) {
				err := set.Vectors.Read(ctx, bag, frame, row)
				if errors.Is(err, ErrCorrupt) {
					continue
				}
				if !yield(row, err) {
					return
				}
			}
		}
	})
	if err != nil {
		return nil, nil, fmt.Errorf("%s: cannot measure the features: %w", set.Name, err)
	}
	return newStandard(m), m, nil
}

// check compares the standard with the set that it is for; nil suits every set.
func (s *Standard) check(set *Set) error {
	switch {
	case s == nil:
		return nil
	case set.Vectors == nil:
		return fmt.Errorf("loader: the set %q has pictures, and a standard of features", set.Name)
	case len(s.Mean) != set.Vectors.Width() || len(s.Scale) != len(s.Mean):
		return fmt.Errorf("loader: the vectors of %q have %d features, the standard is for %d",
			set.Name, set.Vectors.Width(), len(s.Mean))
	}
	return nil
}

func (s *Standard) apply(row []float32) {
	if s == nil {
		return
	}
	for c, v := range row {
		if v != v {
			row[c] = 0
			continue
		}
		row[c] = (v - s.Mean[c]) * s.Scale[c]
	}
}
