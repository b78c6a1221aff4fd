package crossfit

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"nmn/internal/rng"
)

// Errors that a caller may act on.
var (
	// ErrPlan reports a plan that cannot be, or that belongs to other bags.
	ErrPlan = errors.New("not a valid fold plan")
	// ErrScores reports scores that do not fit the plan.
	ErrScores = errors.New("scores do not fit the fold plan")
)

// Plan deals bags to folds, whole bags only: the frames of a video are never on both sides.
type Plan struct {
	Seed  uint64
	Folds int
	IDs   []string // names of the bags
	Fold  []int    // per bag, 0 to Folds-1: the fold that holds it out
	// Groups is how many groups of bags were each kept in one fold, and Grouped how many bags they have together.
	Groups, Grouped int
}

// maxFolds is far above the handful of folds that are trained in practice.
const maxFolds = 1000

// New deals bags to folds at random by the seed. Each group, a list of bags that belong together, goes to one fold:
// the largest group first, always to the fold that has the fewest bags. Fold sizes differ by one at most if there are
// no groups, and by the size of the largest group at most otherwise. Groups share no bags.
func New(ids []string, folds int, seed uint64, groups [][]int) (*Plan, error) {
	if folds > len(ids) && folds <= maxFolds {
		return nil, fmt.Errorf("%d samples are too few for %d folds, each fold needs one: ask for fewer folds, "+
			"or give more samples: %w", len(ids), folds, ErrPlan)
	}
	p := &Plan{Seed: seed, Folds: folds, IDs: ids, Fold: make([]int, len(ids)), Groups: len(groups)}
	order := make([]int, len(ids))
	for i := range order {
		order[i] = i
	}
	s := rng.New(rng.Derive(seed, "folds"))
	s.Shuffle(order)
	units, err := p.units(order, groups)
	if err != nil {
		return nil, err
	}
	sizes := make([]int, min(max(folds, 1), maxFolds))
	for _, unit := range units {
		fold := slices.Index(sizes, slices.Min(sizes))
		for _, bag := range unit {
			p.Fold[bag] = fold
		}
		sizes[fold] += len(unit)
	}
	return p, p.Validate()
}

// units are the groups, the largest first and otherwise in the order of their first bags, and then all other bags in
// their order.
func (p *Plan) units(order []int, groups [][]int) ([][]int, error) {
	of := make([]int, len(order)) // number of the group of each bag, from 1
	for g, group := range groups {
		for _, bag := range group {
			if bag < 0 || bag >= len(of) || of[bag] > 0 {
				return nil, fmt.Errorf("group %d: sample %d is not one of %d samples, or is in two groups: %w", g+1, bag+1, len(of),
					ErrPlan)
			}
			of[bag] = g + 1
		}
		p.Grouped += len(group)
	}
	var units, others [][]int
	dealt := make([]bool, len(groups)+1)
	for i, bag := range order {
		switch g := of[bag]; {
		case g == 0:
			others = append(others, order[i:i+1])
		case !dealt[g]:
			units, dealt[g] = append(units, groups[g-1]), true
		}
	}
	slices.SortStableFunc(units, func(a, b []int) int { return len(b) - len(a) })
	return append(units, others...), nil
}

// Validate returns what is wrong with a plan: fewer than two folds, a fold without bags, a bag twice.
func (p *Plan) Validate() error {
	if p.Folds < 2 || p.Folds > maxFolds {
		return fmt.Errorf("%d folds, want 2 to %d: %w", p.Folds, maxFolds, ErrPlan)
	}
	if len(p.Fold) != len(p.IDs) {
		return fmt.Errorf("%d samples, folds of %d: %w", len(p.IDs), len(p.Fold), ErrPlan)
	}
	if p.Groups < 0 || p.Groups > p.Grouped || p.Grouped > len(p.IDs) {
		return fmt.Errorf("%d groups of %d samples, of %d: %w", p.Groups, p.Grouped, len(p.IDs), ErrPlan)
	}
	sizes, seen := make([]int, p.Folds), make(map[string]int, len(p.IDs))
	for i, id := range p.IDs {
		if first, repeated := seen[id]; repeated {
			return fmt.Errorf("sample %.60q occurs twice, as %d and %d: %w", id, first+1, i+1, ErrPlan)
		}
		seen[id] = i
		if !utf8.ValidString(id) {
			return fmt.Errorf("sample %d: the name %.60q is not UTF-8, which its file must be: %w", i+1, id, ErrPlan)
		}
		fold := p.Fold[i]
		if fold < 0 || fold >= p.Folds {
			return fmt.Errorf("sample %d (%.60q) is in fold %d of %d, counted from 0: %w", i+1, id, fold, p.Folds, ErrPlan)
		}
		sizes[fold]++
	}
	for fold, n := range sizes {
		if n == 0 {
			return fmt.Errorf("fold %d of %d holds no sample; %d samples are too few or badly assigned: %w",
				fold+1, p.Folds, len(p.IDs), ErrPlan)
		}
	}
	return nil
}

// HeldOut are the bags that a fold holds out, in their order.
func (p *Plan) HeldOut(fold int) []int { return p.bags(func(f int) bool { return f == fold }) }

// Training are the bags that the net of a fold learns from: all others.
func (p *Plan) Training(fold int) []int { return p.bags(func(f int) bool { return f != fold }) }

func (p *Plan) bags(in func(fold int) bool) []int {
	var out []int
	for i, f := range p.Fold {
		if in(f) {
			out = append(out, i)
		}
	}
	return out
}

// Matches reports whether the plan is for these bags in this order.
func (p *Plan) Matches(ids []string) error {
	if len(ids) != len(p.IDs) {
		return fmt.Errorf("the plan is for %d samples, there are %d: %w", len(p.IDs), len(ids), ErrPlan)
	}
	for i, id := range ids {
		if id != p.IDs[i] {
			return fmt.Errorf("sample %d is %.60q, the plan has %.60q: %w", i+1, id, p.IDs[i], ErrPlan)
		}
	}
	return nil
}

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
