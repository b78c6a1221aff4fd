package recipe

import (
	"context"

	"nmn/labels/rates"
)

// anchor shifts the evidence of captions, N×K, if bags were verified. Evidence is relative to how often a class is
// there, which captions do not show if they leave out most of it. A net that learns the shifted evidence expects each
// class in as many bags as the estimated rates do:
//
//	sum over scored bags of  sigmoid(l + e + shift) - sigmoid(l)  =  0,  l = a o + b
func (r *Recipe) anchor(ctx context.Context, evidence []float32) error {
	if r.Data.Verified == nil {
		return nil
	}
	if r.Settings.NoiseRates == Online { // nets of folds have been estimated from already
		if err := r.estimateOnline(ctx); err != nil {
			return err
		}
	}
	k := len(r.found.Classes)
	logOdds, before := make([]float64, len(r.plain.bags)), make([]float64, len(r.plain.bags))
	for c, class := range r.found.Classes {
		if !class.Trainable() {
			continue
		}
		for i := range r.plain.bags {
			logOdds[i] = class.Calibrate(float64(r.plain.logits[i*k+c]))
			before[i] = rates.Sigmoid(logOdds[i])
		}
		from, to := -maxShift, maxShift
		for range 40 {
			shift, gain := (from+to)/2, 0.0
			for i, bag := range r.plain.bags {
				gain += rates.Sigmoid(logOdds[i]+float64(evidence[bag*k+c])+shift) - before[i]
			}
			if gain < 0 {
				from = shift
			} else {
				to = shift
			}
		}
		for i := c; i < len(evidence); i += k {
			evidence[i] += float32(from)
		}
	}
	return nil
}

// maxShift bounds a shift of evidence.
const maxShift = 10.0
