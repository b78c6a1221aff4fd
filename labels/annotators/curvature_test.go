package annotators

import (
	"math"
	"slices"
	"testing"

	"nmn/internal/expect"
	"nmn/labels/rates"
)

// logJoint returns the log probabilities of the annotators' answers for a label, with the label and without
// it, as the model is documented.
func logJoint(e *estimator, rows []*Row, bag, class int) (with, without float64) {
	base := e.base(bag, class)
	with, without = -math.Log1p(math.Exp(-base)), -math.Log1p(math.Exp(base))
	for _, r := range rows {
		_, yes := slices.BinarySearch(r.Given, int32(class))
		_, open := slices.BinarySearch(r.Unknown, int32(class))
		_, asked := slices.BinarySearch(r.Asked, int32(class))
		q := e.pairs[r.Annotator]
		switch {
		case open || r.Asked != nil && !asked:
		case yes:
			with, without = with+math.Log(1-q.q01), without+math.Log(q.q10)
		default:
			with, without = with+math.Log(q.q01), without+math.Log(1-q.q10)
		}
	}
	return with, without
}

// rowsOf are the rows of each bag.
func rowsOf(in *Input) [][]*Row {
	of := make([][]*Row, in.Bags)
	for i := range in.Rows {
		r := &in.Rows[i]
		of[r.Bag] = append(of[r.Bag], r)
	}
	return of
}

// logLikelihood returns the log likelihood of all labels under the rates and base rates of an estimator.
func logLikelihood(e *estimator) (sum float64) {
	for i, rows := range rowsOf(e.in) {
		for k := range e.in.Classes {
			with, without := logJoint(e, rows, i, k)
			sum += math.Log(math.Exp(with) + math.Exp(without))
		}
	}
	return sum
}

// logPriors are the log densities of the priors, less constants: beta distributions of rates and of frequencies, normal
// ones of slopes, around 1 and with variance 1/50, and of offsets, around 0 and with variance 1/5.
func logPriors(e *estimator) (pairs, classes float64) {
	beta := func(q, ones, zeros float64) float64 { return ones*math.Log(q) + zeros*math.Log(1-q) }
	for _, q := range e.pairs {
		if e.pooled { // all have the same
			pairs = beta(q.q01, .5, .5) + beta(q.q10, .5, .5)
			continue
		}
		pairs += beta(q.q01, e.weight.q01*e.center.q01, e.weight.q01*(1-e.center.q01)) +
			beta(q.q10, e.weight.q10*e.center.q10, e.weight.q10*(1-e.center.q10))
	}
	for _, logit := range e.prior {
		classes += beta(1/(1+math.Exp(-logit)), .5, .5)
	}
	for k := range e.a {
		classes -= 50*(e.a[k]-1)*(e.a[k]-1)/2 + 5*e.b[k]*e.b[k]/2
	}
	return pairs, classes
}

// shift moves a rate on the scale of logits.
func shift(q *float64, by float64) { *q = 1 / (1 + math.Exp(-math.Log(*q/(1-*q))-by)) }

// shifts returns functions that each move one parameter of an estimator: the rates of one annotator, or of
// all annotators if annotator is negative, and then the base rates of the classes.
func shifts(e *estimator, annotator int) (rates, classes []func(by float64)) {
	each := func(rate func(q *pair) *float64) func(float64) {
		return func(by float64) {
			for j := range e.pairs {
				if annotator < 0 || j == annotator {
					shift(rate(&e.pairs[j]), by)
				}
			}
		}
	}
	rates = []func(float64){each(func(q *pair) *float64 { return &q.q01 }), each(func(q *pair) *float64 { return &q.q10 })}
	for k := range e.in.Classes {
		at := e.b
		if e.b == nil {
			at = e.prior
		}
		classes = append(classes, func(by float64) { at[k] += by })
	}
	return rates, classes
}

// slopeOf is the derivative of f by a parameter.
func slopeOf(f func() float64, shift func(by float64)) float64 {
	const h = 1e-4
	shift(h)
	up := f()
	shift(-2 * h)
	down := f()
	shift(h)
	return (up - down) / (2 * h)
}

// covarianceOf inverts the curvature of f at its maximum.
func covarianceOf(f func() float64, parameters []func(by float64)) [][]float64 {
	n := len(parameters)
	m := make([][]float64, n) // the curvature, and the identity that becomes its inverse
	for i := range m {
		m[i] = make([]float64, 2*n)
		m[i][n+i] = 1
		for j := range n {
			const h = 1e-3
			at := func(x, y float64) float64 {
				parameters[i](x)
				parameters[j](y)
				v := f()
				parameters[j](-y)
				parameters[i](-x)
				return v
			}
			m[i][j] = -(at(h, h) - at(h, -h) - at(-h, h) + at(-h, -h)) / (4 * h * h)
		}
	}
	for i := range m {
		pivot := m[i][i]
		for c := range m[i] {
			m[i][c] /= pivot
		}
		for j := range m {
			if factor := m[j][i]; j != i {
				for c := range m[j] {
					m[j][c] -= factor * m[i][c]
				}
			}
		}
	}
	for i := range m {
		m[i] = m[i][n:]
	}
	return m
}

// exact returns options that iterate until nothing can be gained.
func exact() Options {
	o := DefaultOptions()
	o.Iterations, o.Tolerance, o.Confidence = 20_000, 1e-15, .8
	return o
}

// modelled returns inputs for all ways of summing: over classes on the grid, over classes one by one, and with a
// classifier. Some rows leave labels open, some name what was asked, and annotator 5 shares no bag with others.
func modelled(t *testing.T) map[string]*Input {
	t.Helper()
	c := crowd{bags: 40, pairs: some(5, pair{.1, .04}, pair{.4, .2}), prior: frequencies(3, .2, .5), each: 3, seed: 4}
	direct, _ := c.simulated()
	c.informed = 1
	scored, _ := c.simulated()
	c.informed, c.bags = 0, 400
	grid, _ := c.simulated()
	all := map[string]*Input{"direct": &direct, "scored": &scored, "grid": &grid}
	for _, in := range all {
		in.Rows = append(in.Rows, Row{Bag: int32(in.Bags), Annotator: 5, Given: []int32{1}})
		in.Bags, in.Annotators = in.Bags+1, 6
		if in.Logits != nil {
			in.Logits = append(in.Logits, -1, 1, 0)
		}
		for i := range in.Rows[:len(in.Rows)-1] {
			r := &in.Rows[i]
			switch i % 12 {
			case 3:
				r.Unknown = without([]int32{0, 1, 2}, r.Given)
			case 7:
				r.Asked = []int32{0, 2}
				r.Given = without(r.Given, []int32{1})
			case 8:
				r.Asked, r.Unknown = []int32{0, 1}, []int32{1}
				r.Given = without(r.Given, []int32{1, 2})
			}
		}
	}
	return all
}

func exactly(t *testing.T, in *Input) *estimator {
	t.Helper()
	return expect.Value(estimate(t.Context(), in, exact()))(t)
}

// At the end of the estimate no rate and no base rate can be improved, and the objective is the log
// posterior.
func TestEstimate_EndsAtTheMaximumOfThePosterior(t *testing.T) {
	for name, in := range modelled(t) {
		e := exactly(t, in)
		f := func() float64 {
			pairs, classes := logPriors(e)
			return logLikelihood(e) + pairs + classes
		}
		if want := f(); math.Abs(e.objective-want) > 1e-9*math.Abs(want) {
			t.Errorf("%s: objective %.12g, want %.12g", name, e.objective, want)
		}
		for j := range e.pairs {
			rates, classes := shifts(e, j)
			if !e.free[j] {
				if rates = nil; e.pairs[j] != e.center || j != 5 {
					t.Errorf("%s: annotator %d has the rates %v, all together %v", name, j, e.pairs[j], e.center)
				}
			}
			for i, shift := range append(rates, classes...) {
				if d := slopeOf(f, shift); math.Abs(d) > 2e-3 {
					t.Errorf("%s: annotator %d, parameter %d: the log posterior rises by %.4f", name, j, i, d)
				}
			}
		}
		for k := range e.a {
			if d := slopeOf(f, func(by float64) { e.a[k] += by }); math.Abs(d) > 2e-3 {
				t.Errorf("%s: slope of class %d: the log posterior rises by %.4f", name, k, d)
			}
		}
	}
}

// Intervals follow from the curvature of the log posterior: by an annotator's own rates while all else is held, and by
// a shift of all annotators together with the base rates.
func TestResult_IntervalsAreThoseOfTheCurvature(t *testing.T) {
	for name, in := range modelled(t) {
		e := exactly(t, in)
		if g := e.gridOf(); (g != nil) != (name == "grid") {
			t.Fatalf("%s: the sums come from a grid: %t", name, g != nil)
		}
		all, classes := shifts(e, -1)
		common := covarianceOf(func() float64 {
			_, classes := logPriors(e)
			return logLikelihood(e) + classes
		}, append(all, classes...))
		r := e.result()
		for j, a := range r.Annotators {
			if !e.free[j] {
				continue
			}
			pair, _ := shifts(e, j)
			own := covarianceOf(func() float64 {
				pairs, _ := logPriors(e)
				return logLikelihood(e) + pairs
			}, pair)
			for i, of := range []struct {
				q  float64
				in rates.Interval
			}{{a.Q01, a.Q01Interval}, {a.Q10, a.Q10Interval}} {
				const z = 1.2815515655446004 // 80 % of a normal distribution lie within z standard deviations
				low, high := of.q, of.q
				shift(&low, -z*math.Sqrt(own[i][i]+common[i][i]))
				shift(&high, z*math.Sqrt(own[i][i]+common[i][i]))
				if !a.Told || math.Abs(of.in.Low-low) > 1e-4*low || math.Abs(of.in.High-high) > 1e-4*high {
					t.Errorf("%s: annotator %d, rate %d of %.4f: interval %.6f, want %.6f and %.6f", name, j, i, of.q, of.in, low,
						high)
				}
			}
		}
	}
}

// The curvature also decides which annotators are reported as no better than chance, or as worse.
func TestResult_RemarksFollowFromTheCurvature(t *testing.T) {
	c := crowd{bags: 80, pairs: append(some(4, pair{.1, .02}, pair{.5, .3}), pair{.7, .45}), prior: frequencies(3, .2, .5),
		each: 4, seed: 4}
	in, _ := c.simulated()
	e := exactly(t, &in)
	rates, classes := shifts(e, -1)
	common := covarianceOf(func() float64 {
		_, classes := logPriors(e)
		return logLikelihood(e) + classes
	}, append(rates, classes...))
	tried := 0
	for j := range e.pairs {
		rates, _ := shifts(e, j)
		own := covarianceOf(func() float64 {
			pairs, _ := logPriors(e)
			return logLikelihood(e) + pairs
		}, rates)
		q := e.pairs[j]
		d := []float64{q.q01 * (1 - q.q01), q.q10 * (1 - q.q10)}
		variance := 0.0
		for a := range d {
			for b := range d {
				variance += d[a] * d[b] * (own[a][b] + common[a][b])
			}
		}
		reach := (1 - q.q01 - q.q10) / math.Sqrt(variance) // standard errors from chance
		if math.Abs(reach) > 6 {                           // no confidence is so close to 1
			continue
		}
		tried++
		for _, by := range []float64{.999, 1.001} {
			e.options.Confidence = math.Erf(by * math.Abs(reach) / math.Sqrt2)
			remarks := e.result().Annotators[j].Remarks
			if slices.Contains(remarks, NoBetter) != (by > 1) || slices.Contains(remarks, Reversed) != (by < 1 && reach < 0) {
				t.Errorf("annotator %d, %.3f of %.2f standard errors: %q", j, by, reach, remarks)
			}
		}
	}
	if tried < 2 {
		t.Errorf("%d annotators are close to chance, want 2 at least", tried)
	}
}

// A class whose frequency the labels leave open neither adds to what is known of all annotators nor takes away.
func TestShared_LeavesOutClassesThatSayNothing(t *testing.T) {
	e := exactly(t, modelled(t)["direct"])
	h := newShared(e)
	h.class[0] = coupled{}
	want, _ := h.covariance()
	h.class[0] = coupled{one: 1e9, s01: 3, s10: -2}
	if got, ok := h.covariance(); !ok || got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	h.class[1] = coupled{}
	if got, _ := h.covariance(); got == want {
		t.Error("other classes say nothing either")
	}
}

// If the estimate stops at its iteration limit, the returned figures are still consistent with each other.
func TestEstimate_EndsAfterItsIterations(t *testing.T) {
	for name, in := range modelled(t) {
		o := exact()
		o.Iterations = 3
		e := expect.Value(estimate(t.Context(), in, o))(t)
		pairs, classes := logPriors(e)
		if want := logLikelihood(e) + pairs + classes; math.Abs(e.objective-want) > 1e-9*math.Abs(want) {
			t.Errorf("%s: objective %.12g, want %.12g", name, e.objective, want)
		}
		last := 0
		for _, s := range e.trace {
			if s.phase == phases {
				last++
			}
		}
		if r := e.result(); last != 3+1 || r.Iterations != len(e.trace) || r.Objective != e.objective {
			t.Errorf("%s: %d iterations, %d of the last phase, objective %g", name, r.Iterations, last, r.Objective)
		}
	}
}
