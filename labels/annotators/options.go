package annotators

import (
	"fmt"
	"math"
)

// Options are the settings of an estimate.
type Options struct {
	// Iterations is the most of each phase: all annotators with one pair of rates, then each with its own, whose prior
	// is estimated anew between phases.
	Iterations int
	// Tolerance ends a phase: the least gain of the objective in an iteration, relative to the objective.
	Tolerance float64
	// Strength01 and Strength10 are the weight of all annotators together on q01, in true labels, and on q10, in labels
	// that do not hold. 0 estimates them from how much annotators differ.
	Strength01, Strength10 float64
	// ByLabel gives each annotator a pair of rates for each label, as if each label were a separate file: for
	// rates that differ among labels.
	ByLabel bool
	// Confidence is the probability that an interval holds the rate.
	Confidence float64
}

// DefaultOptions estimate all that can be estimated.
func DefaultOptions() Options { return Options{Iterations: 500, Tolerance: 1e-9, Confidence: .95} }

// Validate names a setting that is out of range.
func (o Options) Validate() error {
	switch {
	case o.Iterations < 1:
		return fmt.Errorf("annotators: %d iterations, want at least 1", o.Iterations)
	case !(o.Tolerance > 0 && o.Tolerance < 1):
		return fmt.Errorf("annotators: tolerance %g, want above 0 and below 1", o.Tolerance)
	case !(o.Strength01 >= 0 && o.Strength10 >= 0) || math.IsInf(o.Strength01+o.Strength10, 0):
		return fmt.Errorf("annotators: strengths of the prior are %g and %g labels, want at least 0", o.Strength01,
			o.Strength10)
	case !(o.Confidence > 0 && o.Confidence < 1):
		return fmt.Errorf("annotators: confidence %g, want above 0 and below 1", o.Confidence)
	}
	return nil
}
