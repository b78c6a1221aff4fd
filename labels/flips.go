package labels

import "fmt"

// FlipRates are the mean probabilities with which labels were flipped.
type FlipRates struct {
	Q01 float64 `json:"missing"`   // for a label that holds
	Q10 float64 `json:"incorrect"` // for a label that does not hold
}

// String is both in percent.
func (f FlipRates) String() string {
	return fmt.Sprintf("%.4g missing, %.4g incorrect", 100*f.Q01, 100*f.Q10)
}
