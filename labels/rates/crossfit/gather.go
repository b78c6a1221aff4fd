package crossfit

import "fmt"

// Gather returns the out-of-fold logits of all bags in their order, N×K. of returns the logits of the bags that a fold
// holds out, in the order of HeldOut. NaN is refused with bag and class.
func (p *Plan) Gather(classes int, of func(fold int) ([]float32, error)) ([]float32, error) {
	all := make([]float32, len(p.IDs)*classes)
	for fold := range p.Folds {
		logits, err := of(fold)
		if err != nil {
			return nil, err
		}
		bags := p.HeldOut(fold)
		if len(logits) != len(bags)*classes {
			return nil, fmt.Errorf("fold %d: %d logits for %d samples × %d classes: %w",
				fold, len(logits), len(bags), classes, ErrScores)
		}
		for i, o := range logits {
			bag, class := bags[i/classes], i%classes
			if o != o {
				return nil, fmt.Errorf("fold %d: sample %q, class %d: the logit is NaN: %w", fold, p.IDs[bag], class+1, ErrScores)
			}
			all[bag*classes+class] = o
		}
	}
	return all, nil
}
