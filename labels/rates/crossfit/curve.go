package crossfit

import (
	"fmt"
	"math"
)

// Curve is the out-of-fold loss of each epoch on the noisy labels,
//
//	V(e) = mean over bags of  sum over classes of BCE(O(e), z)
//
// for which no clean label is needed. Early in training the nets have learned too little, later they have
// memorised the noise of their own folds; V is least in between.
type Curve struct {
	plan  *Plan
	loss  [][]float64 // by epoch and fold, summed over bags and classes
	given [][]bool
}

// NewCurve has capacity for the given number of epochs.
func NewCurve(p *Plan, epochs int) (*Curve, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if epochs < 1 {
		return nil, fmt.Errorf("%d epochs, want at least 1: %w", epochs, ErrScores)
	}
	c := &Curve{plan: p, loss: make([][]float64, epochs), given: make([][]bool, epochs)}
	for e := range epochs {
		c.loss[e], c.given[e] = make([]float64, p.Folds), make([]bool, p.Folds)
	}
	return c, nil
}

// Put takes the summed loss of the bags that a fold
// holds out, after an epoch, counted from 1.
func (c *Curve) Put(epoch, fold int, loss float64) error {
	if epoch < 1 || epoch > len(c.loss) || fold < 0 || fold >= c.plan.Folds {
		return fmt.Errorf("epoch %d of %d, fold %d of %d, counted from 0: %w",
			epoch, len(c.loss), fold, c.plan.Folds, ErrScores)
	}
	if math.IsNaN(loss) || math.IsInf(loss, 0) {
		return fmt.Errorf("epoch %d, fold %d: the loss is %v: %w", epoch, fold, loss, ErrScores)
	}
	if c.given[epoch-1][fold] {
		return fmt.Errorf("epoch %d, fold %d has given its loss already: %w", epoch, fold, ErrScores)
	}
	c.loss[epoch-1][fold], c.given[epoch-1][fold] = loss, true
	return nil
}

// Mean is V of an epoch, counted from 1; false while a fold is missing.
func (c *Curve) Mean(epoch int) (v float64, ok bool) {
	if epoch < 1 || epoch > len(c.loss) {
		return 0, false
	}
	for fold, given := range c.given[epoch-1] {
		if !given {
			return 0, false
		}
		v += c.loss[epoch-1][fold]
	}
	return v / float64(len(c.plan.IDs)), true
}

// Best is the epoch with the least V, the first of equal ones. Epochs that no fold has reached do not
// count; one that only some have is an error, for its V is not known.
func (c *Curve) Best() (epoch int, v float64, err error) {
	for e := 1; e <= len(c.loss); e++ {
		mean, ok := c.Mean(e)
		if !ok {
			for fold, given := range c.given[e-1] {
				if given {
					return 0, 0, fmt.Errorf("epoch %d: fold %d has given its loss, others have not: %w",
						e, fold, ErrScores)
				}
			}
			continue
		}
		if epoch == 0 || mean < v {
			epoch, v = e, mean
		}
	}
	if epoch == 0 {
		return 0, 0, fmt.Errorf("no epoch has the losses of all %d folds: %w", c.plan.Folds, ErrScores)
	}
	return epoch, v, nil
}
