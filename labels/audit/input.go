package audit

import (
	"fmt"
	"math"
	"slices"

	"nmn/eval"
	"nmn/format/table"
	"nmn/labels"
	"nmn/labels/rates"
)

// Input holds the scores and labels of N bags and K classes. It is not changed.
type Input struct {
	Bags, Classes int
	Logits        []float32 // N×K, of p(y=1|I), out-of-fold; finite
	// Combined are judged in place of Logits, which are then for Judge alone; nil for Logits.
	Combined []float32
	Labels   []uint8       // N×K, observed labels z, 0 or 1, or table.Unknown: these are not audited
	Rates    *labels.Rates // noise rates; a class whose rates are NaN is not audited
	// A and B calibrate the logits, A o + B for each class. They are nil if the logits already describe
	// p(y=1), as for nets that were trained through the noise model.
	A, B []float64
	// Beliefs are the noise models that each class may have. Labels of a class that has some are judged by all of them,
	// in place of rates and calibration. It may be nil.
	Beliefs [][]rates.Belief
	// Pooled marks the classes whose own labels carry too little information on their noise, so that the
	// rates come from all classes. It may be nil.
	Pooled []bool
	// Recalibration corrects the log-odds of labels to be wrong; nil takes them as they are.
	Recalibration *Recalibration

	Words []string // names of the classes; nil for their numbers
	IDs   []string // names of the bags; nil for their numbers
	Truth []uint8  // N×K, true labels, if known; for Judge
}

// FromEstimate takes the Beliefs that rates.Estimate has of each class. Rates are the mean ones. A class without
// beliefs is not audited.
func (in *Input) FromEstimate(r *rates.Result) {
	in.Rates, in.A, in.B = labels.UnknownRates(len(r.Classes)), nil, nil
	in.Beliefs, in.Pooled = make([][]rates.Belief, len(r.Classes)), make([]bool, len(r.Classes))
	for c, class := range r.Classes {
		if class.Beliefs == nil {
			continue
		}
		mean := class.Believed(r.Confidence)
		in.Beliefs[c], in.Pooled[c] = slices.Clone(class.Beliefs), !class.Usable()
		in.Rates.Q01[c], in.Rates.Q10[c] = mean.Q01, mean.Q10
	}
}

// IsPooled reports whether a class uses the rates of all classes together.
func (in *Input) IsPooled(class int) bool { return in.Pooled != nil && in.Pooled[class] }

// ID is the name of a bag, or its number, counted from 1.
func (in *Input) ID(bag int) string { return labels.Name(in.IDs, bag) }

// Word is the name of a class, or its number, counted from 1.
func (in *Input) Word(class int) string { return labels.Name(in.Words, class) }

// judged are the scores that labels are judged by.
func (in *Input) judged() []float32 {
	if in.Combined != nil {
		return in.Combined
	}
	return in.Logits
}

// audited reports whether the rates of a class are known.
func (in *Input) audited(class int) bool {
	return !math.IsNaN(in.Rates.Q01[class]) && !math.IsNaN(in.Rates.Q10[class])
}

// check names what is wrong with the input; errors wrap eval.ErrShape or eval.ErrValue.
func (in *Input) check() error {
	if in.Bags < 1 || in.Classes < 1 || in.Bags > math.MaxInt32 || in.Classes > math.MaxInt32 {
		return fmt.Errorf("audit: %d samples, %d classes: %w", in.Bags, in.Classes, eval.ErrShape)
	}
	type matrix struct {
		what string
		n    int
	}
	matrices := []matrix{{"logits", len(in.Logits)}, {"labels", len(in.Labels)}}
	if in.Combined != nil {
		matrices = append(matrices, matrix{"combined logits", len(in.Combined)})
	}
	if in.Truth != nil {
		matrices = append(matrices, matrix{"true labels", len(in.Truth)})
	}
	for _, m := range matrices {
		if m.n/in.Classes != in.Bags || m.n%in.Classes != 0 {
			return fmt.Errorf("audit: %d %s for %d samples × %d classes: %w", m.n, m.what, in.Bags, in.Classes,
				eval.ErrShape)
		}
	}
	if in.Words != nil && len(in.Words) != in.Classes || in.IDs != nil && len(in.IDs) != in.Bags {
		return fmt.Errorf("audit: %d names and %d identifiers for %d samples × %d classes: %w",
			len(in.Words), len(in.IDs), in.Bags, in.Classes, eval.ErrShape)
	}
	if in.Rates == nil || len(in.Rates.Q01) != in.Classes || len(in.Rates.Q10) != in.Classes ||
		in.A != nil && (len(in.A) != in.Classes || len(in.B) != in.Classes) {
		return fmt.Errorf("audit: rates or calibration do not match %d classes: %w", in.Classes, eval.ErrShape)
	}
	return in.checkValues()
}

func (in *Input) checkValues() error {
	for c := range in.Classes {
		for _, q := range []float64{in.Rates.Q01[c], in.Rates.Q10[c]} {
			if q < 0 || q > 1 {
				return fmt.Errorf("audit: class %s: noise rate %g, want 0 to 1: %w", in.Word(c), q, eval.ErrValue)
			}
		}
	}
	for i, o := range in.Logits {
		place := func() string {
			return fmt.Sprintf("audit: sample %s, class %s", in.ID(i/in.Classes), in.Word(i%in.Classes))
		}
		if f := float64(o); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("%s: logit %v, want a finite number: %w", place(), o, eval.ErrValue)
		}
		if z := in.Labels[i]; z > 1 && z != table.Unknown || in.Truth != nil && in.Truth[i] > 1 {
			return fmt.Errorf("%s: a label is neither 0 nor 1: %w", place(), eval.ErrValue)
		}
	}
	return nil
}
