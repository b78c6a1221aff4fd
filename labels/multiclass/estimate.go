package multiclass

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"sync"

	"nmn/eval"
)

// Options are the settings of an audit; DefaultOptions has those that were tried.
type Options struct {
	Iterations int     // of the calibration
	Strength   float64 // weight of the pooled rate on a row of T, in true labels
	MinError   float64 // least probability of being wrong of a suspect
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
	case !(o.MinError > 0 && o.MinError <= 1):
		return fmt.Errorf("audit of classes: MinError is %g, want above 0 to 1: %w", o.MinError, eval.ErrValue)
	}
	return nil
}

// Model is the estimate of the noise and of the calibration.
type Model struct {
	Classes int
	T       []float64 // K×K, T_yz = p(z|y), row y
	Inverse []float64 // K×K, of T; nil where the scores are taken as they are
	A       float64   // slope of the scores' logarithms
	B       []float64 // K, their shift, of mean 0
	Pooled  float64   // p(z≠y), of all classes together
	True    []float64 // K, expected number of rows of each class, among all rows
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

// parts are what rows are cut into for sums, whatever the number of processors.
const parts = 8

// sums are what an iteration takes from rows.
type sums struct {
	counts     []float64 // K×K, sum of ρ_y over rows with label z
	expected   []float64 // K, sum of p(y|x)
	gradient   float64   // of the slope
	curvature  float64
	likelihood float64 // log p(z|x)
}

func newSums(k int) *sums { return &sums{counts: make([]float64, k*k), expected: make([]float64, k)} }

func (s *sums) add(o *sums) {
	for i, v := range o.counts {
		s.counts[i] += v
	}
	for i, v := range o.expected {
		s.expected[i] += v
	}
	s.gradient += o.gradient
	s.curvature += o.curvature
	s.likelihood += o.likelihood
}

// Estimate finds T from the anchors of each class, then fits the calibration to all labels, given T, by expectation and
// maximisation. It ends with the error of ctx once that is done; others wrap eval.ErrShape or eval.ErrValue. Of many rows
// the calibration sees every n-th.
func Estimate(ctx context.Context, in Input, o Options) (*Model, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	k := in.Classes
	m := &Model{Classes: k, A: 1, B: make([]float64, k)}
	counts := in.anchored()
	m.Pooled = offDiagonal(counts, k)
	m.T = m.drawn(counts, o.Strength)
	d := sampleOf(&in)
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

// The anchors of a class are the rows that the scores are surest of: so large a share of the rows with its label, and no
// fewer than anchorRows.
const (
	anchorShare = .1
	anchorRows  = 25
)

// anchored counts the labels of the anchors of each class, K×K. The rates of errors must come from there: a classifier
// that has learned the noise by heart explains all labels without any, whatever they are.
func (in *Input) anchored() []float64 {
	k := in.Classes
	sizes := make([]int, k)
	for _, z := range in.Labels {
		sizes[z]++
	}
	counts, order := make([]float64, k*k), make([]int32, in.Rows)
	for y := range k {
		for i := range order {
			order[i] = int32(i)
		}
		n := min(max(int(anchorShare*float64(sizes[y])), anchorRows), in.Rows)
		first(order, n, func(i, j int32) int {
			return cmp.Or(cmp.Compare(in.Scores[int(j)*k+y], in.Scores[int(i)*k+y]), cmp.Compare(i, j))
		})
		for _, i := range order[:n] {
			if argmax(in.Scores[int(i)*k:][:k]) == y { // a class that is never the likeliest has no anchors
				counts[y*k+int(in.Labels[i])]++
			}
		}
	}
	return counts
}

// first brings the n least values to the front, in no order.
func first(values []int32, n int, compare func(a, b int32) int) {
	lo, hi := 0, len(values)
	for hi-lo > 1 && lo < n && n < hi {
		pivot := values[lo+(hi-lo)/2]
		i, j := lo, hi-1
		for i <= j {
			for compare(values[i], pivot) < 0 {
				i++
			}
			for compare(values[j], pivot) > 0 {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case n <= j+1:
			hi = j + 1
		case n >= i:
			lo = i
		default:
			return
		}
	}
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

// sample holds every stride-th row.
type sample struct {
	stride int
	scores []float32
	logs   []float32 // that the model being fitted makes of them
	labels []int32
}

func sampleOf(in *Input) *sample {
	d := &sample{stride: max(1, in.Rows/max(fitCells/in.Classes, fitRows))}
	for i := 0; i < in.Rows; i += d.stride {
		d.labels = append(d.labels, in.Labels[i])
		d.scores = append(d.scores, in.Scores[i*in.Classes:(i+1)*in.Classes]...)
	}
	return d
}

func logOf(p float64) float64 {
	if p == 0 {
		return leastLog
	}
	return max(math.Log(p), leastLog)
}

// pass makes an E-step.
func (m *Model) pass(ctx context.Context, d *sample) (*sums, error) {
	n := len(d.labels)
	all := make([]*sums, parts)
	var wait sync.WaitGroup
	for part := range parts {
		wait.Go(func() {
			s, row := newSums(m.Classes), m.newRow()
			all[part] = s
			for i := part * n / parts; i < (part+1)*n/parts; i++ {
				if i%1024 == 0 && ctx.Err() != nil {
					return
				}
				z := int(d.labels[i])
				for y, l := range d.logs[i*m.Classes:][:m.Classes] {
					row.logs[y] = float64(l)
				}
				s.likelihood += math.Log(row.find(z))
				s.count(row, z)
			}
		})
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("audit of classes: %w", err)
	}
	for _, s := range all[1:] {
		all[0].add(s)
	}
	return all[0], nil
}

// count takes a row in.
func (s *sums) count(r *row, z int) {
	k := len(r.p)
	mean, squares := 0.0, 0.0
	for y, p := range r.p {
		s.counts[y*k+z] += r.posterior[y]
		s.expected[y] += p
		s.gradient += (r.posterior[y] - p) * r.logs[y]
		mean += p * r.logs[y]
		squares += p * r.logs[y] * r.logs[y]
	}
	s.curvature += squares - mean*mean
}

// row is the working memory for one row.
type row struct {
	m                  *Model
	logs, p, posterior []float64
}

func (m *Model) newRow() *row {
	return &row{m, make([]float64, m.Classes), make([]float64, m.Classes), make([]float64, m.Classes)}
}

// set takes the scores of a row.
func (r *row) set(scores []float32) {
	if r.m.Inverse == nil {
		for y, p := range scores {
			r.logs[y] = logOf(float64(p))
		}
		return
	}
	clear(r.p)
	for z, p := range scores {
		for y, v := range r.m.Inverse[z*r.m.Classes : (z+1)*r.m.Classes] {
			r.p[y] += v * float64(p)
		}
	}
	for y, p := range r.p {
		r.logs[y] = math.Log(max(p, leastUnmixed))
	}
}

// find computes p(y|x) and, given the label z, ρ_y; it returns p(z|x).
func (r *row) find(z int) float64 {
	m, top := r.m, math.Inf(-1)
	for y, l := range r.logs {
		r.p[y] = m.A*l + m.B[y]
		top = max(top, r.p[y])
	}
	sum := 0.0
	for y, o := range r.p {
		r.p[y] = math.Exp(o - top)
		sum += r.p[y]
	}
	of := 0.0
	for y := range r.p {
		r.p[y] /= sum
		r.posterior[y] = r.p[y] * m.T[y*m.Classes+z]
		of += r.posterior[y]
	}
	of = max(of, 1e-300)
	for y := range r.posterior {
		r.posterior[y] /= of
	}
	return of
}
