package features

import (
	"errors"
	"iter"
	"math"
)

// Moments are the mean and the deviation of each column, over rows that can be used. A missing value
// counts for none.
type Moments struct {
	Mean, Deviation []float64
	Rows            int // that could be used
	Constant        int // columns with a deviation of 0
}

// Measure returns the moments of the columns of vectors of d numbers. It reads the vectors in order and only
// once. A row with an error that wraps ErrValue is skipped; the training decides what to do about it. Any
// other error ends the measurement.
//
// It sums differences to the first row in float64, so that columns with a mean far from 0 keep their
// deviation.
func Measure(d int, vectors iter.Seq2[[]float32, error]) (*Moments, error) {
	shift := make([]float64, d)
	sum, square, count := make([]float64, d), make([]float64, d), make([]float64, d)
	m := &Moments{Mean: make([]float64, d), Deviation: make([]float64, d)}
	var first error
	for row, err := range vectors {
		if errors.Is(err, ErrValue) {
			if first == nil {
				first = err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		m.Rows++
		for c, v := range row {
			if v != v {
				continue
			}
			if count[c] == 0 {
				shift[c] = float64(v)
			}
			x := float64(v) - shift[c]
			sum[c] += x
			square[c] += x * x
			count[c]++
		}
	}
	if m.Rows == 0 {
		return nil, errors.Join(errors.New("features: no row can be used"), first)
	}
	for c := range d {
		if count[c] > 0 {
			mean := sum[c] / count[c]
			m.Mean[c] = shift[c] + mean
			m.Deviation[c] = math.Sqrt(max(0, square[c]/count[c]-mean*mean))
		}
		if m.Deviation[c] == 0 {
			m.Constant++
		}
	}
	return m, nil
}
