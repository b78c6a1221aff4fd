package rates

import (
	"fmt"

	"nmn/eval"
)

// Options are the settings of Estimate; DefaultOptions has those that were measured.
type Options struct {
	// Iterations of the pooled phase, and again of the phase per class.
	Iterations int
	// MinSlope is the least slope a of scores; a class that the scores hardly predict wants to go below.
	MinSlope float64
	// Strength01 and Strength10 are the weights of the pooled rates on the rates of a class, in true and in
	// false labels: pseudo-counts of a Beta prior.
	Strength01, Strength10 float64
	// MinPositives is the least number of observed labels of a class, present and absent, for its rates
	// to be believed.
	MinPositives int
	// Confidence of the intervals.
	Confidence float64
	// Verified are bags whose labels were checked, chosen at random, each once; nil for none.
	Verified []Verified
	// Workers is the number of goroutines; by default one for each processor. It does not change
	// results.
	Workers int
	// Progress, where set, is called with how much of the work is done. Calls do not overlap.
	Progress func(done, total int)
}

// DefaultOptions are 100 + 100 iterations, slopes from .3, a prior worth 20 true and 50 untrue labels,
// 10 positives and intervals of 95 %.
func DefaultOptions() Options {
	return Options{Iterations: 100, MinSlope: .3, Strength01: 20, Strength10: 50, MinPositives: 10, Confidence: .95}
}

// Validate names the field that is out of range.
func (o Options) Validate() error {
	for _, f := range []struct {
		name   string
		v      float64
		lo, hi float64
	}{
		{"Iterations", float64(o.Iterations), 1, 1e6},
		{"MinSlope", o.MinSlope, 1e-3, maxSlope},
		{"Strength01", o.Strength01, 1e-3, 1e9},
		{"Strength10", o.Strength10, 1e-3, 1e9},
		{"MinPositives", float64(o.MinPositives), 0, 1e9},
		{"Confidence", o.Confidence, .5, .9999},
		{"Workers", float64(o.Workers), 0, 1e6},
	} {
		if !(f.v >= f.lo && f.v <= f.hi) {
			return fmt.Errorf("noise rates: %s is %g, want %g to %g: %w", f.name, f.v, f.lo, f.hi, eval.ErrValue)
		}
	}
	return nil
}
