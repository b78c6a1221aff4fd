package rates

import (
	"context"
	"math"

	"nmn/eval"
	"nmn/labels"
)

// Report is an estimate with what follows from it for the use of the scores.
type Report struct {
	*Result
	// Threshold is the threshold on the calibrated probabilities with the best expected F1 for all classes
	// together. Thresholds are the best ones for each class.
	Threshold  float64   `json:"threshold"`
	Thresholds []float64 `json:"class_thresholds"`
	// Usable reports of each class whether its rates can be believed, see Class.Usable.
	Usable []bool `json:"class_usable"`
	// Floor is the floor to which the rates were raised; nil if they were not.
	Floor *Floor `json:"floor,omitempty"`
	// MeanError is the error against Truth, the rates of the true labels. Both are nil if these are unknown.
	MeanError *MeanError    `json:"mean_error,omitempty"`
	Truth     *labels.Rates `json:"-"`
}

// MeanError is the mean distance of the rates from the true ones, over the classes whose rates are believed.
type MeanError struct {
	Q01 eval.Number `json:"q01"`
	Q10 eval.Number `json:"q10"`
}

// NewReport estimates the rates of the input of ReadFiles. If raise is set, it raises them as far as the
// labels allow, for noise that is suspected to depend on the bag. Errors come from Estimate and RaiseToFloor.
func NewReport(ctx context.Context, in *eval.Input, raise bool, o Options) (*Report, error) {
	input := InputOf(in)
	result, err := Estimate(ctx, input, o)
	if err != nil {
		return nil, err
	}
	r := &Report{}
	if raise {
		r.Floor = new(Floor)
		if result, *r.Floor, err = RaiseToFloor(ctx, input, result, o); err != nil {
			return nil, err
		}
	}
	r.Result = result
	for _, c := range result.Classes {
		r.Usable = append(r.Usable, c.Usable())
	}
	if err := r.findThresholds(in); err != nil {
		return nil, err
	}
	if in.Truth != nil {
		return r, r.compare(in)
	}
	return r, nil
}

// findThresholds finds the threshold of each class, and the threshold of all classes, whose scores are sorted
// together.
func (r *Report) findThresholds(in *eval.Input) (err error) {
	calibrated := r.Calibrated(in.Scores)
	if r.Thresholds, err = eval.PlugInThresholds(calibrated, in.Bags, in.Classes, true); err != nil {
		return err
	}
	r.Threshold, err = eval.PlugInThreshold(calibrated, true)
	return err
}

func (r *Report) compare(in *eval.Input) (err error) {
	if r.Truth, err = eval.TrueRates(in.Labels, in.Truth, in.Bags, in.Classes); err != nil {
		return err
	}
	believed := r.Rates()
	r.MeanError = &MeanError{meanGap(believed.Q01, r.Truth.Q01), meanGap(believed.Q10, r.Truth.Q10)}
	return nil
}

// meanGap is the mean distance, without entries that are unknown on either side.
func meanGap(a, b []float64) eval.Number {
	sum, n := 0.0, 0
	for i := range a {
		if gap := math.Abs(a[i] - b[i]); !math.IsNaN(gap) {
			sum += gap
			n++
		}
	}
	return eval.Number(sum / float64(n))
}
