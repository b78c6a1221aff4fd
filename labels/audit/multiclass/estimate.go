package multiclass

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"nmn/eval"
	"nmn/kernels/simd"
)

// Options are the settings of an audit.
type Options struct {
	MinError float64 // least probability of being wrong of a suspect; 0 lists every label
	// Plateau also looks for noise of one direction that a classifier has learned: in a mixture of the scores, or in
	// how often labels agree with its surest rows. It is for scores of nets that may have learned the noise.
	Plateau bool
}

// DefaultOptions lists suspects from .5.
func DefaultOptions() Options { return Options{MinError: .5} }

// Noise is a kind of noise.
type Noise int

// The kinds of noise that are fitted, and Learned, which is read off the scores.
const (
	// Unknown is no noise, or noise that looks like classes that overlap. Half the doubt of the scores is taken for
	// the probability that a label is wrong.
	Unknown  Noise = iota
	Even           // one rate of errors, spread evenly over the other classes
	Directed       // any T
	Learned        // any T, and the scores are p(z|x)
	kinds    = Learned
)

// String is the name that files have.
func (n Noise) String() string { return [...]string{"unknown", "even", "directed", "learned"}[n] }

// Model is the estimate of the noise and of the calibration.
type Model struct {
	Classes int
	Noise   Noise
	T       []float64 // K×K, T_yz = p(z|y), row y
	Inverse []float32 // K×K, of T; nil unless Noise is Learned
	A       float64   // slope of the scores' logarithms
	B       []float64 // K, their shift
	Pooled  float64   // p(z≠y), of all classes together
	// Chance is set if the scores predict labels no better than the shares of the classes do. Noise is then Unknown.
	Chance bool
	True   []float64 // K, expected number of rows of each class, among all rows

	given []float64 // T by label, T_yz at z*K+y; nil unless Noise is Directed or Learned
	rate  float64   // rate of even noise as fitted: 0 if Noise is Unknown
	held  bool      // T is not fitted
	floor float64   // least logarithm of a score
	level simd.Level
	// mixture makes p(y|x) of the scores; nil if the scores are p(y|x)
	mixture *mixture
}

const (
	scoreFloor = 2.5e-8 // less counts as 0
	leastRate  = 1e-4
	mostRate   = .9
)

// Thresholds that decide between kinds of noise: gains in the log likelihood of held-out labels.
const (
	evenGain     = 3.
	directedGain = 10.
	// leastEven is the least rate that counts: noise near the boundary of classes looks like a smaller one.
	leastEven = .05
	// mostFree is the most classes that have a free T: it has K² cells.
	mostFree = 1000
	// firstRate is the least rate of the T that a free one begins from.
	firstRate = .15
)

// How much of the data the model is fitted to: more would hardly change it.
const (
	fitCells = 2_000_000
	fitRows  = 10_000
)

// estimate fits the kinds of noise, each with its own calibration of the scores, and returns the one that
// held-out labels support. If ctx is cancelled, it returns the error of ctx; other errors wrap eval.ErrShape
// or eval.ErrValue. If there are many rows, it uses every n-th.
func estimate(ctx context.Context, in Input, o Options) (*Model, error) {
	if !(o.MinError >= 0 && o.MinError <= 1) {
		return nil, fmt.Errorf("audit of classes: MinError is %g, want 0 to 1: %w", o.MinError, eval.ErrValue)
	}
	level, err := simd.Detect()
	if err = cmp.Or(err, in.check()); err != nil {
		return nil, err
	}
	k := in.Classes
	m := Model{Classes: k, A: 1, B: make([]float64, k), floor: math.Log(in.leastScore()), level: level}
	f := &fitting{ctx: ctx, sample: sampleOf(&in, &m)}
	all := f.kinds(m, everyRow)
	var heldOut [kinds]float64
	for side := range everyRow {
		for kind, fitted := range f.kinds(m, side) {
			heldOut[kind] += f.pass(fitted, 1-side)[likelihood]
		}
	}
	if slices.Max(heldOut[:])-f.byShares(k) <= evenGain {
		m = *all[Unknown]
		m.Chance, m.T, m.True = true, even(0, k), f.expected(all[Unknown])
		return &m, f.failed()
	}
	rate, likeliest := all[Even].rate, surest(&in, f.stride)
	chosen := all[choice(heldOut, rate)]
	if o.Plateau {
		mixed, own := f.mixed(m, &in)
		if mixed != nil && f.pass(chosen, everyRow)[likelihood]-own.pass(mixed, everyRow)[likelihood] <
			mixtureLoss*float64(len(f.labels)) {
			chosen, f = mixed, own
		}
	}
	if chosen.Noise != Directed {
		chosen.Pooled = rate
		chosen = cmp.Or(f.anchored(m, &in, likeliest), chosen)
	}
	if chosen.Noise == Unknown && o.Plateau {
		chosen = cmp.Or(f.plateau(m, &in, likeliest), chosen)
	}
	if chosen.Noise == Unknown {
		if learned := chosen.learned(&in, likeliest); learned != nil {
			chosen, f.sample = learned, sampleOf(&in, learned)
		}
	}
	chosen.T = chosen.transition()
	chosen.True = f.expected(chosen)
	return chosen, f.failed()
}

// failed is the first error of the sums.
func (f *fitting) failed() error {
	if f.err != nil {
		return fmt.Errorf("audit of classes: %w", f.err)
	}
	return nil
}

// byShares is the log likelihood of the labels of each side by the shares of the classes on the other side, or by equal
// shares if that is greater.
func (f *fitting) byShares(k int) (sum float64) {
	shares := [everyRow][]float64{make([]float64, k), make([]float64, k)}
	var sizes [everyRow]float64
	for i, z := range f.labels {
		shares[f.sides[i]][z]++
		sizes[f.sides[i]]++
	}
	for i, z := range f.labels {
		other := 1 - f.sides[i]
		sum += math.Log((shares[other][z] + 1) / (sizes[other] + float64(k)))
	}
	return max(sum, -float64(len(f.labels))*math.Log(float64(k)))
}

// leastScore replaces scores of 0. It is half of the smallest other score: for a forest or for nearest
// neighbours, 0 is no certainty.
func (in *Input) leastScore() float64 {
	least := float32(1)
	for _, p := range in.Scores {
		if p > 0 && p < least {
			least = p
		}
	}
	return min(max(float64(least)/2, scoreFloor), .5/float64(in.Classes))
}

// choice is the kind of noise that the likelihoods of held-out labels speak for, given the rate of even noise.
func choice(heldOut [kinds]float64, rate float64) Noise {
	switch {
	case heldOut[Directed]-max(heldOut[Even], heldOut[Unknown]) > directedGain:
		return Directed
	case heldOut[Even]-heldOut[Unknown] > evenGain && rate >= leastEven:
		return Even
	}
	return Unknown
}

// transition is T row by row.
func (m *Model) transition() []float64 {
	if m.given != nil {
		return transposed(m.given, m.Classes)
	}
	return even(m.Pooled, m.Classes)
}

// transposed turns T row by row into T by label, and the other way.
func transposed(t []float64, k int) []float64 {
	out := make([]float64, k*k)
	for y := range k {
		for z := range k {
			out[y*k+z] = t[z*k+y]
		}
	}
	return out
}

// meanError is the mean over the classes of p(z≠y), with T row by row.
func meanError(t []float64, k int) float64 {
	mean := 1.
	for y := range k {
		mean -= t[y*k+y] / float64(k)
	}
	return mean
}

// even is T of k classes with one rate of errors, row by row and by label.
func even(rate float64, k int) []float64 {
	t := make([]float64, k*k)
	for i := range t {
		t[i] = rate / float64(k-1)
	}
	for y := range k {
		t[y*k+y] = 1 - rate
	}
	return t
}
