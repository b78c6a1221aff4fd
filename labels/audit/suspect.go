package audit

import (
	"cmp"
	"fmt"
	"slices"

	"nmn/eval"
	"nmn/format/table"
	"nmn/internal/parallel"
	"nmn/labels/audit/rows"
	"nmn/labels/rates"
)

// Kind is how a label is wrong.
type Kind string

// The kinds.
const (
	Incorrect Kind = "incorrect" // z=1, the concept is not there
	Missing   Kind = "missing"   // z=0, the concept is there
)

// KindOf returns the kind of error if a label z is wrong.
func KindOf(z uint8) Kind {
	if z == 1 {
		return Incorrect
	}
	return Missing
}

// Suspect is a label that may be wrong.
type Suspect struct {
	Bag, Class int32
	Given      uint8   // the label z
	Margin     float64 // log-odds that the label is wrong
	P          float64 // p(y=1|I), without the label
}

// Kind is how it would be wrong.
func (s Suspect) Kind() Kind { return KindOf(s.Given) }

// Error is the probability that the label is wrong, 1 - rho at the given label.
func (s Suspect) Error() float64 { return rates.Sigmoid(s.Margin) }

// Rho is p(y=1|z,I).
func (s Suspect) Rho() float64 {
	if s.Given == 1 {
		return rates.Sigmoid(-s.Margin)
	}
	return rates.Sigmoid(s.Margin)
}

// Result is the outcome of an audit.
type Result struct {
	// Suspects are the labels that are wrong with at least the probability asked for, the surest first;
	// equal ones in the order of bags and classes.
	Suspects []Suspect
	Classes  []Class
	// Rows describe how well all labels of each bag fit; only audited classes count.
	Rows []rows.Score
}

// Class sums up the labels of one class. Expected numbers are sums of probabilities over all bags.
type Class struct {
	Positives         int     // observed labels
	Audited           bool    // its noise rates are known
	Pooled            bool    // rates of all classes together: the expected numbers are no claim
	ExpectedIncorrect float64 // labels that are there and should not be
	ExpectedMissing   float64 // labels that should be there
	Incorrect         int     // suspects
	Missing           int
}

// Run computes the probability of every label to be wrong and ranks the labels with at least minError, from 0
// to 1. It computes in log-odds throughout, so labels that are wrong with near certainty keep their order.
// Results do not depend on the number of processors.
func Run(in Input, minError float64) (*Result, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	if !(minError >= 0 && minError <= 1) {
		return nil, fmt.Errorf("audit: least probability %g, want 0 to 1: %w", minError, eval.ErrValue)
	}
	r := &Result{Classes: make([]Class, in.Classes), Rows: make([]rows.Score, in.Bags)}
	for c := range r.Classes {
		r.Classes[c].Audited, r.Classes[c].Pooled = in.audited(c), in.IsPooled(c)
	}
	type part struct {
		classes  []Class
		suspects []Suspect
	}
	parts := make([]part, (in.Bags+blockRows-1)/blockRows)
	posteriors := in.posteriors()
	parallel.Blocks(in.Bags, blockRows, func(lo, hi int) {
		p := &parts[lo/blockRows]
		p.classes = make([]Class, in.Classes)
		var labels rows.Aggregate
		for bag := lo; bag < hi; bag++ {
			row := &r.Rows[bag]
			*row = rows.Score{Worst: -1, Suggested: -1}
			labels.Reset()
			for c, z := range in.Labels[bag*in.Classes:][:in.Classes] {
				if z == table.Unknown {
					continue
				}
				class := &p.classes[c]
				class.Positives += int(z)
				if !r.Classes[c].Audited {
					continue
				}
				s := Suspect{Bag: int32(bag), Class: int32(c), Given: z, Margin: posteriors[c].margin(z,
					in.judged()[bag*in.Classes+c])}
				wrong := s.Error()
				if labels.Add(wrong); row.Worst < 0 || wrong > row.Wrong {
					row.Worst, row.Wrong = int32(c), wrong
				}
				if class.count(z, wrong, wrong >= minError); wrong >= minError {
					s.P = rates.Sigmoid(posteriors[c].logit(in.judged()[bag*in.Classes+c]))
					p.suspects = append(p.suspects, s)
					row.Suspects++
				}
			}
			row.Quality, _ = labels.Quality()
		}
	})
	for _, p := range parts {
		for c := range p.classes {
			r.Classes[c].add(&p.classes[c])
		}
		r.Suspects = append(r.Suspects, p.suspects...)
	}
	slices.SortFunc(r.Suspects, compareSuspects)
	return r, nil
}

func (c *Class) add(o *Class) {
	c.Positives += o.Positives
	c.ExpectedIncorrect += o.ExpectedIncorrect
	c.ExpectedMissing += o.ExpectedMissing
	c.Incorrect += o.Incorrect
	c.Missing += o.Missing
}

// blockRows is how many bags are worked on together. It does not depend on the number of processors, so that sums over
// bags do not either.
const blockRows = 4096

// compareSuspects has the surest first, and equal ones in the order of bags and classes.
func compareSuspects(a, b Suspect) int {
	return cmp.Or(cmp.Compare(b.Margin, a.Margin), cmp.Compare(a.Bag, b.Bag), cmp.Compare(a.Class, b.Class))
}

func (c *Class) count(z uint8, wrong float64, suspect bool) {
	expected, suspects := &c.ExpectedMissing, &c.Missing
	if z == 1 {
		expected, suspects = &c.ExpectedIncorrect, &c.Incorrect
	}
	*expected += wrong
	if suspect {
		*suspects++
	}
}

// AtPrecision returns how many of the first suspects can be corrected with at least the given expected
// precision, the mean of their probabilities of being wrong. It includes no label that is more likely right
// than wrong.
func AtPrecision(suspects []Suspect, precision float64) int {
	sum := 0.0
	for k, s := range suspects {
		wrong := s.Error()
		sum += wrong
		if wrong < .5 || sum < precision*float64(k+1) {
			return k
		}
	}
	return len(suspects)
}

// ExpectedPrecision is the mean probability of being wrong; undefined for no suspects.
func ExpectedPrecision(suspects []Suspect) eval.Number {
	sum := 0.0
	for _, s := range suspects {
		sum += s.Error()
	}
	return eval.Number(sum / float64(len(suspects))) // NaN for 0/0
}
