package annotators

import (
	"context"

	"nmn/labels"
)

// Ridge of the calibration of logits: slopes are drawn to 1 and offsets to 0, as with captions as witnesses.
const (
	slopeRidge  = 50.
	offsetRidge = 5.
)

// ridged is the Newton step of a class with slope a and offset b.
func ridged(s labels.Logistic, a, b float64) (da, db float64) {
	s.A, s.B = s.A-slopeRidge*(a-1), s.B-offsetRidge*b
	s.AA, s.BB = s.AA+slopeRidge, s.BB+offsetRidge
	return s.Step()
}

// calibrate makes a Newton step of the logistic regression of the posterior on the logits, class by class.
func (e *estimator) calibrate() {
	for k := range e.a {
		e.stepA[k], e.stepB[k] = ridged(e.total.calibrated[k], e.a[k], e.b[k])
		e.a[k] += e.stepA[k]
		e.b[k] += e.stepB[k]
	}
}

// retreat halves the last step of the calibration until the objective is no lower than before: far from the maximum a
// Newton step may lead beyond it. The rates keep theirs, which never lowers the objective.
func (e *estimator) retreat(ctx context.Context, last float64) error {
	for range 30 {
		for k := range e.a {
			e.stepA[k] /= 2
			e.stepB[k] /= 2
			e.a[k] -= e.stepA[k]
			e.b[k] -= e.stepB[k]
		}
		if err := e.expect(ctx); err != nil || e.objective >= last {
			return err
		}
	}
	return nil
}
