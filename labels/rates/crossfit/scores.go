package crossfit

import "fmt"

// Scores gathers the out-of-fold logits of one epoch, N×K: each fold gives the logits of the bags that it
// holds out. Folds may come in any order, from one goroutine.
type Scores struct {
	plan    *Plan
	classes int
	logits  []float32
	given   []bool
}

// NewScores has room for 4 bytes of each bag and class.
func NewScores(p *Plan, classes int) (*Scores, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if classes < 1 {
		return nil, fmt.Errorf("%d classes, want at least 1: %w", classes, ErrScores)
	}
	return &Scores{plan: p, classes: classes, logits: make([]float32, len(p.IDs)*classes), given: make([]bool, p.Folds)},
		nil
}

// Put takes the logits of the bags that a fold holds out, in the order of Plan.HeldOut. A fold gives
// them once, and NaN is refused with bag and class.
func (s *Scores) Put(fold int, logits []float32) error {
	if fold < 0 || fold >= s.plan.Folds {
		return fmt.Errorf("fold %d of %d, counted from 0: %w", fold, s.plan.Folds, ErrScores)
	}
	bags := s.plan.HeldOut(fold)
	if s.given[fold] {
		return fmt.Errorf("fold %d has given its scores already: %w", fold, ErrScores)
	}
	if len(logits) != len(bags)*s.classes {
		return fmt.Errorf("fold %d: %d logits for %d samples × %d classes: %w",
			fold, len(logits), len(bags), s.classes, ErrScores)
	}
	for i, o := range logits {
		if o != o {
			return fmt.Errorf("fold %d: sample %q, class %d: the logit is NaN: %w",
				fold, s.plan.IDs[bags[i/s.classes]], i%s.classes+1, ErrScores)
		}
	}
	for i, bag := range bags {
		copy(s.logits[bag*s.classes:(bag+1)*s.classes], logits[i*s.classes:])
	}
	s.given[fold] = true
	return nil
}

// Logits returns the logits of all bags in their order, once every fold has given its own.
func (s *Scores) Logits() ([]float32, error) {
	for fold, given := range s.given {
		if !given {
			return nil, fmt.Errorf("fold %d of %d has given no scores yet: %w", fold+1, s.plan.Folds, ErrScores)
		}
	}
	return s.logits, nil
}
