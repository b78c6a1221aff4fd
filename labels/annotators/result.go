package annotators

import (
	"fmt"
	"math"
	"slices"

	"nmn/labels/rates"
)

// Remark is a warning about an annotator.
type Remark string

// The remarks.
const (
	Reversed    Remark = "worse than chance: labels suggest the opposite"
	NoBetter    Remark = "no better than chance"
	AlwaysSame  Remark = "the same labels for every sample"
	MostlyPrior Remark = "too few samples of its own: mostly the rates of all annotators"
	Alone       Remark = "shares no sample with another annotator: the rates of all annotators"
	Idle        Remark = "looked at no sample"
	Copies      Remark = "answers as another annotator does: equal answers count once, and no interval is estimated"
)

// Annotator describes one annotator. Expected numbers are sums of probabilities over its labels.
type Annotator struct {
	Bags   int
	Shared int     // bags that another annotator looked at too
	Asked  float64 // labels 0 and 1
	Given  float64 // labels 1

	Q01, Q10                 float64 // missing if it holds, given if it does not
	Q01Interval, Q10Interval rates.Interval
	Told                     bool    // the rates are the annotator's own, and have intervals
	Informedness             float64 // 1 - q01 - q10: 1 for an annotator who is always right, 0 for chance
	Accuracy                 float64 // expected share of right labels among those asked
	Incorrect, Missing       float64 // labels expected to be wrong among those given, and among those not given
	// Agreement with the consensus is 2 |both| / (|given| + |consensus|); NaN if both are empty.
	Agreement float64
	Remarks   []Remark

	both, named float64 // numerator and denominator of Agreement
}

// model is an estimate of the labels of each bag.
type model interface {
	each(bag int, f func(Cell))
	posterior(bag int, p []float64)
	evidences(bag int, evidence []float64)
}

// part is a model of some classes, from class on.
type part struct {
	model
	class, classes int
}

// Result describes all annotators, and the labels.
type Result struct {
	Bags, Classes int
	Annotators    []Annotator
	Prior         []float64 // per class: frequency pi of true labels; nil with logits
	A, B          []float64 // per class, with logits o: A o + B is the logit of p(y=1) before any label; else nil
	Expected      []float64 // per class: true labels
	// Pooled is the center of the prior of all pairs, and Strengths its weights in labels.
	PooledQ01, PooledQ10   float64
	Strength01, Strength10 float64
	Confidence             float64
	Iterations             int
	Objective              float64 // log likelihood and log density of the priors
	Agreement              float64 // of two annotators: 2 |both| / (|given| + |given|); NaN if no pair shares a bag
	Consensus              int     // labels that probably hold, as Cell has it
	Incorrect, Missing     float64 // expected errors of the consensus
	// Exclusive is set if every answer has exactly one class. Then the truth has one class too, and the
	// consensus has one class for each bag with an answer. Rates are then means over classes, and strengths
	// are in answers of one true class.
	Exclusive    bool
	Notes        []string
	pairs, asked float64 // numerator and denominator of Agreement
	parts        []part  // by class; not all classes have one
}

func (e *estimator) result() *Result {
	r := &Result{Bags: e.in.Bags, Classes: e.in.Classes, PooledQ01: e.center.q01, PooledQ10: e.center.q10,
		Strength01: e.weight.q01, Strength10: e.weight.q10, Confidence: e.options.Confidence,
		Iterations: len(e.trace), Objective: e.objective, A: e.a, B: e.b, Expected: e.total.class,
		parts: []part{{e, 0, e.in.Classes}}}
	for _, o := range e.prior {
		p, _ := sigmoidSoftplus(o)
		r.Prior = append(r.Prior, p)
	}
	both, named := e.agreement(r)
	h := newShared(e)
	common, told := h.covariance()
	same := e.in.same()
	for j := range e.pairs {
		a := e.annotator(j, h.uncertain[j], common, told)
		a.both, a.named = both[j], named[j]
		a.Agreement = a.both / a.named // NaN for 0/0
		a.remarkSame(same[j])
		r.Annotators = append(r.Annotators, a)
	}
	r.note(e.in, e.overlap, told)
	return r
}

// Least numbers of bags and of expected wrong labels before an annotator who always gives the same answer
// gets a remark. If true labels are rare, giving the same answer for a few bags is right.
const (
	leastSame  = 5
	leastWrong = 3
)

func (a *Annotator) remarkSame(same bool) {
	if same && a.Incorrect+a.Missing >= leastWrong && a.Bags >= leastSame {
		a.Remarks = append(a.Remarks, AlwaysSame)
	}
}

func (e *estimator) annotator(j int, u uncertain, common information, told bool) Annotator {
	q, t := e.pairs[j], e.total.expected(j, e.asked[j])
	a := Annotator{Bags: e.overlap.bags[j], Shared: e.overlap.shared[j], Asked: e.asked[j].asked, Given: e.asked[j].given,
		Q01: q.q01, Q10: q.q10, Incorrect: t.invented, Missing: t.missed, Accuracy: math.NaN(),
		Informedness: 1 - q.q01 - q.q10}
	if a.Asked > 0 {
		a.Accuracy = 1 - (t.invented+t.missed)/a.Asked
	}
	a.Q01Interval, a.Q10Interval = unbounded()
	switch {
	case a.Bags == 0:
		a.Remarks = append(a.Remarks, Idle)
		return a
	case !e.free[j]:
		a.Remarks = append(a.Remarks, Alone)
		return a
	}
	if v, ok := q.information(t, u, e.weight).covariance(); ok && told {
		v = information{v.i01 + common.i01, v.both + common.both, v.i10 + common.i10}
		z := quantile(e.options.Confidence)
		a.Told = true
		a.Q01Interval, a.Q10Interval = around(q.q01, v.i01, z), around(q.q10, v.i10, z)
		value, deviation := q.informedness(v)
		a.remarkInformed(value, z*deviation)
	}
	if t.missed+t.found < e.weight.q01 || t.absent+t.invented < e.weight.q10 {
		a.Remarks = append(a.Remarks, MostlyPrior)
	}
	return a
}

// remarkInformed compares informedness, which is uncertain by reach, with chance.
func (a *Annotator) remarkInformed(value, reach float64) {
	switch {
	case value+reach < 0:
		a.Remarks = append(a.Remarks, Reversed)
	case value-reach <= 0:
		a.Remarks = append(a.Remarks, NoBetter)
	}
}

// agreement sums the consensus, the agreement of annotators with it, and the agreement among annotators. For
// each annotator it returns twice the number of its labels in the consensus, and the number of its labels
// plus the number of consensus labels that it was asked about.
func (e *estimator) agreement(r *Result) (both, named []float64) {
	both, named = make([]float64, e.in.Annotators), make([]float64, e.in.Annotators)
	pairs, all := 0.0, 0.0
	p := make([]float64, e.in.Classes)
	for i := range e.in.Bags {
		if len(e.cells.whole.of(i)) == 0 && e.cells.first[i] == e.cells.first[i+1] {
			e.posterior(i, p) // no answer: its labels are unknown, and none is in the consensus
			for _, expected := range p {
				r.Missing -= expected
			}
			continue
		}
		likely := 0.0
		e.each(i, func(c Cell) {
			yes := 0.0
			if c.Holds || c.Asked == 0 {
				r.Missing -= c.P // subtracted from all expected labels, see below
			}
			if c.Holds {
				yes = 1
				r.Consensus++
				r.Incorrect += 1 - c.P
				likely++
			}
			pairs += float64(c.Given) * float64(c.Given-1)
			all += float64(c.Given) * float64(c.Asked-1)
			if c.at < 0 {
				return
			}
			for _, m := range e.cells.marks.of(c.at) {
				both[m.who] += 2 * yes * ones[m.kind]
				named[m.who] += ones[m.kind] + yes*(ones[m.kind]+zeros[m.kind])
			}
		})
		for _, j := range e.cells.whole.of(i) {
			named[j] += likely
		}
	}
	for _, expected := range e.total.class {
		r.Missing += expected
	}
	r.Missing = max(r.Missing, 0)
	r.pairs, r.asked = pairs, all
	r.Agreement = pairs / all // NaN for 0/0
	return both, named
}

// same marks the annotators who gave the same labels to all bags.
func (in *Input) same() []bool {
	first := make([]int, in.Annotators) // row, counted from 1
	same := make([]bool, in.Annotators)
	for i := range in.Rows {
		row := &in.Rows[i]
		if at := first[row.Annotator]; at == 0 {
			first[row.Annotator], same[row.Annotator] = i+1, true
		} else if !slices.Equal(row.Given, in.Rows[at-1].Given) || !slices.Equal(row.Asked, in.Rows[at-1].Asked) {
			same[row.Annotator] = false
		}
	}
	return same
}

// note adds the remarks that hold for all annotators together.
func (r *Result) note(in *Input, o overlap, told bool) {
	active, alone := 0, 0
	for j, n := range o.bags {
		if n > 0 {
			active++
			if o.shared[j] == 0 {
				alone++
			}
		}
	}
	logits := in.Logits != nil
	add := func(format string, args ...any) { r.Notes = append(r.Notes, fmt.Sprintf(format, args...)) }
	switch {
	case logits && o.most < 2:
		add("Each sample has one annotator: reliabilities depend on the classifier alone.")
	case alone > 0 && !logits:
		add("%d of %d annotators share no sample with another one: they have the rates of all annotators.", alone, active)
	}
	if o.groups > 1 && o.groups > alone+1 && !logits {
		add("Annotators fall into %d groups that share no sample: rates are best compared within a group.", o.groups)
	}
	if active == 2 && !logits {
		add("Two annotators: when they differ, only the frequencies of labels show which is right.")
	}
	if !told {
		add("Labels do not show how often all annotators are wrong together: rates have no intervals.")
	}
	if r.Agreement == 1 {
		add("Annotators agree on every label, so they cannot be ranked.")
	}
	if r.PooledQ01+r.PooledQ10 >= 1 {
		add("Overall, annotators are no better than chance: the labels carry no information.")
	}
}
