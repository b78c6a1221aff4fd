package annotators

import (
	"context"
	"fmt"
	"math"
	"slices"

	"nmn/labels/rates"
)

// maxByLabel bounds rows × classes of estimates label by label, which keep the rows for each label.
const maxByLabel = 200_000_000

// byLabel estimates each class by itself, and joins the results. Rates of an annotator are then the expected shares
// over all its labels.
func byLabel(ctx context.Context, in *Input, o Options) (*Result, error) {
	if len(in.Rows) > maxByLabel/in.Classes {
		return nil, fmt.Errorf("annotators: %d rows × %d labels are too many to be estimated label by label, want at "+
			"most %d: "+
			"leave `annotators.by_label` out, or take fewer labels at a time: %w", len(in.Rows), in.Classes, maxByLabel,
			ErrInput)
	}
	named := make([]bool, in.Classes)
	for i := range in.Rows {
		for _, k := range in.Rows[i].Given {
			named[k] = true
		}
	}
	j := newJoin(in, o)
	for k := range in.Classes {
		if !named[k] {
			j.skip(in, k)
			continue
		}
		e, err := estimate(ctx, in.only(k), o)
		if err != nil {
			return nil, fmt.Errorf("label %d of %d: %w", k+1, in.Classes, err)
		}
		j.take(e.result(), k)
		e.blocks = nil // which are as large as all else together
	}
	if len(j.r.parts) == 0 {
		return nil, in.identifiable(in.overlap())
	}
	return j.finish(in), nil
}

// only is the input with one class. Rows that were not asked about it are left out.
func (in *Input) only(class int) *Input {
	one := &Input{Bags: in.Bags, Annotators: in.Annotators, Classes: 1}
	this, none := []int32{0}, []int32{}
	list := func(of []int32) []int32 {
		if _, ok := slices.BinarySearch(of, int32(class)); ok {
			return this
		}
		return none
	}
	for i := range in.Rows {
		r := &in.Rows[i]
		row := Row{Bag: r.Bag, Annotator: r.Annotator, Given: list(r.Given)}
		if r.Asked != nil && len(list(r.Asked)) == 0 || len(list(r.Unknown)) > 0 {
			continue
		}
		one.Rows = append(one.Rows, row)
	}
	if in.Logits != nil {
		one.Logits = make([]float32, in.Bags)
		for i := range one.Logits {
			one.Logits[i] = in.Logits[i*in.Classes+class]
		}
	}
	return one
}

// join adds up the results of single classes.
type join struct {
	r                    *Result
	variance01, variance []float64 // per annotator: variances of the sums of missed and of invented labels
	prior                []int     // per annotator: classes whose rates are mostly the pooled ones
	skipped              int
}

func newJoin(in *Input, o Options) *join {
	j := &join{r: &Result{Bags: in.Bags, Classes: in.Classes, Annotators: make([]Annotator, in.Annotators),
		Confidence: o.Confidence}, variance01: make([]float64, in.Annotators), variance: make([]float64, in.Annotators),
		prior: make([]int, in.Annotators)}
	for i := range j.r.Annotators {
		j.r.Annotators[i].Told = true
	}
	return j
}

// skip notes a class that no annotator gave.
func (j *join) skip(in *Input, class int) {
	j.skipped++
	j.r.Expected = append(j.r.Expected, 0)
	if in.Logits == nil {
		j.r.Prior = append(j.r.Prior, 0)
	} else {
		j.r.A, j.r.B = append(j.r.A, 1), append(j.r.B, 0)
	}
}

func (j *join) take(one *Result, class int) {
	r := j.r
	r.parts = append(r.parts, part{one.parts[0].model, class, 1})
	r.Prior, r.A, r.B = append(r.Prior, one.Prior...), append(r.A, one.A...), append(r.B, one.B...)
	r.Expected = append(r.Expected, one.Expected...)
	r.PooledQ01, r.PooledQ10 = r.PooledQ01+one.PooledQ01, r.PooledQ10+one.PooledQ10
	r.Strength01, r.Strength10 = r.Strength01+one.Strength01, r.Strength10+one.Strength10
	r.Iterations += one.Iterations
	r.Objective += one.Objective
	r.pairs += one.pairs
	r.asked += one.asked
	r.Consensus += one.Consensus
	r.Incorrect += one.Incorrect
	r.Missing += one.Missing
	for _, note := range one.Notes {
		if !slices.Contains(r.Notes, note) {
			r.Notes = append(r.Notes, note)
		}
	}
	z := quantile(r.Confidence)
	for i := range one.Annotators {
		from, to := &one.Annotators[i], &r.Annotators[i]
		to.Asked += from.Asked
		to.Given += from.Given
		to.Incorrect += from.Incorrect
		to.Missing += from.Missing
		to.both += from.both
		to.named += from.named
		if from.Asked == 0 {
			continue
		}
		to.Told = to.Told && from.Told
		positive := from.Given - from.Incorrect + from.Missing
		j.variance01[i] += squared(positive * deviation(from.Q01Interval, from.Q01, z))
		j.variance[i] += squared((from.Asked - positive) * deviation(from.Q10Interval, from.Q10, z))
		if slices.Contains(from.Remarks, MostlyPrior) {
			j.prior[i]++
		}
	}
}

func squared(x float64) float64 { return x * x }

// deviation is the standard error of a rate whose interval was made by around.
func deviation(i rates.Interval, q, z float64) float64 {
	logit := func(p float64) float64 { return math.Log(p) - math.Log1p(-p) }
	return q * (1 - q) * (logit(i.High) - logit(i.Low)) / (2 * z)
}

func (j *join) finish(in *Input) *Result {
	r, n := j.r, float64(len(j.r.parts))
	r.PooledQ01, r.PooledQ10 = r.PooledQ01/n, r.PooledQ10/n
	r.Strength01, r.Strength10 = r.Strength01/n, r.Strength10/n
	r.Agreement = r.pairs / r.asked // NaN for 0/0
	seen := in.overlap()
	same := in.same()
	for i := range r.Annotators {
		a := &r.Annotators[i]
		a.Bags, a.Shared = seen.bags[i], seen.shared[i]
		j.rates(i)
		a.remarkJoined(in, same[i])
		if j.prior[i] == len(r.parts) {
			a.Remarks = append(a.Remarks, MostlyPrior)
		}
	}
	if j.skipped > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("No annotator gave %d of %d labels: they have no estimates.",
			j.skipped, r.Classes))
	}
	return r
}

func (j *join) rates(i int) {
	a := &j.r.Annotators[i]
	positive := a.shares(pair{j.r.PooledQ01, j.r.PooledQ10})
	if a.Told = a.Told && a.Bags > 0 && positive > 0 && a.Asked > positive; !a.Told {
		return
	}
	z := quantile(j.r.Confidence)
	d01, d10 := math.Sqrt(j.variance01[i])/positive, math.Sqrt(j.variance[i])/(a.Asked-positive)
	a.Q01Interval = around(a.Q01, squared(d01/(a.Q01*(1-a.Q01))), z)
	a.Q10Interval = around(a.Q10, squared(d10/(a.Q10*(1-a.Q10))), z)
	a.remarkInformed(a.Informedness, z*math.Hypot(d01, d10))
}

// shares computes rates, accuracy and agreement from the expected counts, without intervals. Rates that no label
// shows are pooled ones. It returns the expected number of true labels among those that the annotator was asked for.
func (a *Annotator) shares(pooled pair) (positive float64) {
	positive = a.Given - a.Incorrect + a.Missing
	rate := func(wrong, all, pooled float64) float64 {
		if all <= 0 {
			return pooled
		}
		return min(max(wrong/all, leastRate), mostRate)
	}
	a.Q01, a.Q10 = rate(a.Missing, positive, pooled.q01), rate(a.Incorrect, a.Asked-positive, pooled.q10)
	a.Informedness = 1 - a.Q01 - a.Q10
	a.Agreement = a.both / a.named // NaN for 0/0
	a.Accuracy = 1 - (a.Incorrect+a.Missing)/a.Asked
	a.Q01Interval, a.Q10Interval = unbounded()
	return positive
}

// remarkJoined adds what follows from the bags that an annotator looked at.
func (a *Annotator) remarkJoined(in *Input, same bool) {
	switch {
	case a.Bags == 0:
		a.Remarks = append(a.Remarks, Idle)
	case a.Shared == 0 && in.Logits == nil:
		a.Remarks = append(a.Remarks, Alone)
	}
	a.remarkSame(same)
}
