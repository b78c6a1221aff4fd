package multiclass

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"nmn/eval"
	"nmn/group"
	"nmn/kernels/simd"
)

// Options are the settings of an audit; DefaultOptions has those that were tried.
type Options struct {
	Iterations int     // of the calibration
	Strength   float64 // weight of the pooled rate on a row of T, in true labels
	MinError   float64 // least probability of being wrong of a suspect; 0 lists every label
	// Group is of the ranks that share classes and rows, nil for one. It does not change results. Every rank has the whole
	// input; rank 0 alone gets what an audit finds of single rows.
	Group group.Group
}

// DefaultOptions are 100 iterations, a prior worth 20 labels, and suspects from .5.
func DefaultOptions() Options { return Options{Iterations: 100, Strength: 20, MinError: .5} }

// Validate names the field that is out of range.
func (o Options) Validate() error {
	switch {
	case o.Iterations < 1 || o.Iterations > 1e6:
		return fmt.Errorf("audit of classes: Iterations is %d, want 1 to 1e6: %w", o.Iterations, eval.ErrValue)
	case !(o.Strength > 0 && o.Strength <= 1e9):
		return fmt.Errorf("audit of classes: Strength is %g, want above 0 to 1e9: %w", o.Strength, eval.ErrValue)
	case !(o.MinError >= 0 && o.MinError <= 1):
		return fmt.Errorf("audit of classes: MinError is %g, want 0 to 1: %w", o.MinError, eval.ErrValue)
	}
	return nil
}

// Model is the estimate of the noise and of the calibration.
type Model struct {
	Classes int
	T       []float64 // K×K, T_yz = p(z|y), row y
	Inverse []float32 // K×K, of T; nil where the scores are taken as they are
	A       float64   // slope of the scores' logarithms
	B       []float64 // K, their shift, of mean 0
	Pooled  float64   // p(z≠y), of all classes together
	True    []float64 // K, expected number of rows of each class, among all rows

	level simd.Level
	ranks group.Group
}

// Limits of the parameters, as those of package rates.
const (
	leastLog           = -17.5 // logarithm of a probability that float32 rounds to 0
	leastRate          = 1e-6
	minSlope, maxSlope = .3, 8.0
	maxShift           = 10.0
	slopeRidge         = .1
	maxStep            = .5
	settled            = 1e-4 // a step that is worth no other
)

// How much of the data the calibration is fitted to: more tells hardly more.
const (
	fitCells = 4_000_000
	fitRows  = 20_000
)

// Estimate finds T from the anchors of each class, then fits the calibration to all labels, given T, by expectation
// and maximisation. It ends with the error of ctx once that is done; others wrap eval.ErrShape or eval.ErrValue. Of
// many rows the calibration sees every n-th.
func Estimate(ctx context.Context, in Input, o Options) (*Model, error) {
	ranks := group.Of(o.Group)
	level, err := simd.Detect()
	if err = cmp.Or(err, o.Validate()); err == nil {
		err = in.check()
	}
	if err := group.Alike(ranks, fmt.Sprintf("%d rows × %d classes", in.Rows, in.Classes), err); err != nil {
		return nil, err
	}
	k := in.Classes
	m := &Model{Classes: k, A: 1, B: make([]float64, k), level: level, ranks: ranks}
	counts, err := in.anchored(ranks)
	if err != nil {
		return nil, err
	}
	m.Pooled = offDiagonal(counts, k)
	m.T = m.drawn(counts, o.Strength)
	d := sampleOf(&in, ranks)
	s, err := m.fit(ctx, d, o.Iterations)
	if err != nil {
		return nil, err
	}
	if other := m.unmixed(in.Rows); other != nil {
		t, err := other.fit(ctx, d, o.Iterations)
		if err != nil {
			return nil, err
		}
		if t.likelihood > s.likelihood {
			m, s = other, t
		}
	}
	m.True = make([]float64, k)
	for y := range k {
		for z := range k {
			m.True[y] += float64(d.stride) * s.counts[y*k+z]
		}
	}
	return m, nil
}

// fit fits the calibration, and returns the sums at its end.
func (m *Model) fit(ctx context.Context, d *sample, iterations int) (*sums, error) {
	d.logs = make([]float32, len(d.scores))
	own := m.newRow()
	for i := range d.labels {
		own.set(d.scores[i*m.Classes : (i+1)*m.Classes])
		for y, l := range own.logs {
			d.logs[i*m.Classes+y] = float32(l)
		}
	}
	for range iterations {
		s, err := m.pass(ctx, d)
		if err != nil {
			return nil, err
		}
		if m.calibrate(s) < settled {
			return s, nil
		}
	}
	return m.pass(ctx, d)
}

// even is T with one rate of errors.
func (m *Model) even(rate float64) []float64 {
	t := make([]float64, m.Classes*m.Classes)
	for y := range m.Classes {
		for z := range m.Classes {
			if t[y*m.Classes+z] = rate / float64(m.Classes-1); y == z {
				t[y*m.Classes+z] = 1 - rate
			}
		}
	}
	return t
}

// offDiagonal is the share of the counts where label and class differ.
func offDiagonal(counts []float64, k int) float64 {
	wrong, all := 0.0, 0.0
	for i, n := range counts {
		if all += n; i/k != i%k {
			wrong += n
		}
	}
	return min(max((wrong+1)/(all+20), leastRate), .9)
}

// drawn is T from counts and the prior.
func (m *Model) drawn(counts []float64, strength float64) []float64 {
	k, t := m.Classes, m.even(m.Pooled)
	for y := range k {
		row, n := t[y*k:(y+1)*k], strength
		for z := range row {
			row[z] = strength*row[z] + counts[y*k+z]
			n += counts[y*k+z]
		}
		for z := range row {
			row[z] = max(row[z]/n, leastRate/float64(k))
		}
	}
	return t
}

// calibrate makes a damped step of slope and shifts towards the posteriors, and returns its size.
func (m *Model) calibrate(s *sums) (size float64) {
	step := (s.gradient - slopeRidge*(m.A-1)) / (s.curvature + slopeRidge)
	before := m.A
	m.A = min(max(m.A+min(max(step, -maxStep), maxStep), minSlope), maxSlope)
	size, mean := math.Abs(m.A-before), 0.0
	for y := range m.B {
		posterior := 0.0
		for z := range m.Classes {
			posterior += s.counts[y*m.Classes+z]
		}
		step := math.Log((posterior + 1) / (s.expected[y] + 1))
		size = max(size, math.Abs(step))
		m.B[y] += min(max(step, -maxStep), maxStep)
		mean += m.B[y] / float64(m.Classes)
	}
	for y := range m.B {
		m.B[y] = min(max(m.B[y]-mean, -maxShift), maxShift)
	}
	return size
}
