package labels

import (
	"fmt"
	"math"
)

// Rates are the noise rates of labels in class order: Q01 = p(z=0|y=1) and Q10 = p(z=1|y=0), with z the
// observed and y the true label. Both slices have one entry for each class, NaN if a rate is unknown. If a
// function documents it, a single entry stands for all classes, and none for rates of 0.
type Rates struct {
	Q01 []float64 `json:"missing,omitempty"` // the names in files of noise
	Q10 []float64 `json:"incorrect,omitempty"`
}

// NewRates are rates of 0.
func NewRates(classes int) *Rates {
	return &Rates{Q01: make([]float64, classes), Q10: make([]float64, classes)}
}

// UnknownRates returns rates that are all unknown.
func UnknownRates(classes int) *Rates {
	r := NewRates(classes)
	for c := range classes {
		r.Q01[c], r.Q10[c] = math.NaN(), math.NaN()
	}
	return r
}

// FlipRates are the mean probabilities with which labels were flipped.
type FlipRates struct {
	Q01 float64 `json:"missing"`   // for a label that holds
	Q10 float64 `json:"incorrect"` // for a label that does not hold
}

// String is both in percent.
func (f FlipRates) String() string {
	return fmt.Sprintf("%.4g missing, %.4g incorrect", 100*f.Q01, 100*f.Q10)
}
