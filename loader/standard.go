package loader

import (
	"context"
	"errors"
	"fmt"
	"math"

	"nmn/loader/features"
)

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
