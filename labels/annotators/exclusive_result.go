package annotators

import (
	"math"
	"slices"

	"nmn/labels/rates"
)

func (x *exclusive) result() *Result {
	in, classes := x.in, float64(x.in.Classes)
	wrong := x.all.confuses + (1-x.all.knows-x.all.confuses)*(1-1/classes)
	r := &Result{Bags: in.Bags, Classes: in.Classes, Exclusive: true, A: x.a, B: x.b, PooledQ01: wrong,
		PooledQ10: wrong / (classes - 1), Confidence: x.options.Confidence,
		Iterations: len(x.objective), Objective: x.objective[len(x.objective)-1], Expected: make([]float64, in.Classes),
		parts: []part{{x, 0, in.Classes}}}
	for _, strength := range x.strength {
		r.Strength01 += math.Log(strength) / float64(in.Annotators)
	}
	r.Strength01 = math.Exp(r.Strength01)
	r.Strength10 = r.Strength01
	if x.base == nil {
		r.Prior = x.prior
	}
	for i := range in.Bags {
		rows := x.bags.of(i)
		if len(rows) == 0 {
			continue
		}
		for k, p := range x.of(i) {
			r.Expected[k] += p
		}
		r.Consensus++
		r.Incorrect += 1 - x.of(i)[x.likely(i)]
		x.each(i, func(c Cell) { r.pairs += float64(c.Given) * float64(c.Given-1) })
		r.asked += float64(len(rows)) * float64(len(rows)-1)
	}
	r.Missing = r.Incorrect // a wrong class is in the place of the right one
	r.Agreement = r.pairs / r.asked
	same := in.same()
	for j := range in.Annotators {
		r.Annotators = append(r.Annotators, x.annotator(j, same[j]))
	}
	r.note(in, x.overlap, true)
	return r
}

// annotator sums up the matrix of an annotator: q01 is the mean over true classes of p(another class), and q10 the mean
// over pairs of two classes of p(one | the other).
func (x *exclusive) annotator(j int, same bool) Annotator {
	classes, rows := x.in.Classes, x.rows.of(j)
	n := float64(len(rows))
	a := Annotator{Bags: len(rows), Shared: x.overlap.shared[j], Asked: n * float64(classes), Given: n}
	a.Q01Interval, a.Q10Interval = unbounded()
	right := 0.
	for _, row := range rows {
		k := int(x.answers.all[row.place].class)
		right += x.of(int(row.bag))[k]
		if x.likely(int(row.bag)) == k {
			a.both++
		}
	}
	a.named = n
	a.Agreement, a.Accuracy = a.both/n, right/n // NaN for 0/0
	a.Incorrect, a.Missing = n-right, n-right
	recall, variance := x.recall(j)
	others := float64(classes - 1)
	a.Q01, a.Q10 = 1-recall, (1-recall)/others
	a.Informedness = 1 - a.Q01 - a.Q10
	switch {
	case a.Bags == 0:
		a.Remarks = append(a.Remarks, Idle)
		return a
	case a.Shared == 0 && x.base == nil:
		a.Remarks = append(a.Remarks, Alone)
		return a
	}
	z := quantile(x.options.Confidence)
	a.Told = true
	a.Q01Interval = around(a.Q01, variance/squared(a.Q01*(1-a.Q01)), z)
	a.Q10Interval = rates.Interval{Low: a.Q01Interval.Low / others, High: a.Q01Interval.High / others}
	a.remarkInformed(a.Informedness, z*math.Sqrt(variance)*(1+1/others))
	if n < shareWeight+x.strength[j] {
		a.Remarks = append(a.Remarks, MostlyPrior)
	}
	a.remarkSame(same)
	return a
}

// recall is the mean over true classes of p(answer is right), and its variance by observed information (Louis) of each
// rate with the others held.
func (x *exclusive) recall(j int) (mean, variance float64) {
	classes := x.in.Classes
	rates, hidden := make([]float64, classes), make([]float64, classes)
	list := x.answers.of(j)
	for l := range rates {
		at := slices.IndexFunc(list, func(a answer) bool { return int(a.class) == l })
		guess, count := guessWeight/float64(classes)/(guessWeight+float64(len(x.rows.of(j)))), 0.
		if at >= 0 {
			guess, count = list[at].guess, x.counts[(int(x.answers.from[j])+at)*classes+l]
		}
		rate := x.rate(j, count, x.truths[j*classes+l], x.mean(j, answer{int32(l), guess}, l))
		rates[l] = min(max(rate, leastRate), mostRate)
		mean += rates[l] / float64(classes)
	}
	for _, row := range x.rows.of(j) {
		for l, p := range x.of(int(row.bag)) {
			off := rates[l]
			if int(x.answers.all[row.place].class) == l {
				off = 1 - rates[l]
			}
			hidden[l] += p * (1 - p) * off * off
		}
	}
	// A rate is known by its answers and by the mean of its prior, which is known by all answers of the annotator.
	own, all, share := 0., 0., 0.
	for l, q := range rates {
		v, n := q*(1-q), x.truths[j*classes+l]
		own += squared(v) / max(v*(n+x.strength[j])-hidden[l], v/2)
		all += v*n - hidden[l]
		share += x.strength[j] / (n + x.strength[j])
	}
	v := mean * (1 - mean)
	k := float64(classes)
	return mean, own/(k*k) + squared(share/k*v)/max(all, v)
}
