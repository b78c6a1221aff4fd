package annotators

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"nmn/eval"
	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/labels/rates"
)

// errorsOf are the mean distances of the rates from the true ones, and how many intervals hold the true rate.
func errorsOf(r *Result, pairs []pair) (d01, d10, held float64) {
	n := float64(len(pairs))
	for j, a := range r.Annotators {
		d01 += math.Abs(a.Q01-pairs[j].q01) / n
		d10 += math.Abs(a.Q10-pairs[j].q10) / n
		for _, in := range []struct {
			i rates.Interval
			q float64
		}{{a.Q01Interval, pairs[j].q01}, {a.Q10Interval, pairs[j].q10}} {
			if in.i.Low <= in.q && in.q <= in.i.High {
				held += 1 / (2 * n)
			}
		}
	}
	return d01, d10, held
}

func TestEstimate_FindsRates(t *testing.T) {
	const seeds = 4
	for _, c := range []struct {
		annotators, each int
		d01, d10, held   float64
	}{{5, 5, .02, .01, .85}, {5, 3, .03, .01, .85}, {30, 3, .07, .02, .8}, {30, 2, .12, .03, .7}} {
		held := 0.0
		for seed := range uint64(seeds) {
			crowd := crowd{bags: 600, pairs: some(c.annotators, pair{.1, .01}, pair{.6, .1}),
				prior: frequencies(8, .05, .4), each: c.each, seed: seed}
			in, _ := crowd.simulated()
			d01, d10, h := errorsOf(estimated(t, in), crowd.pairs)
			if d01 > c.d01 || d10 > c.d10 {
				t.Errorf("%d annotators, %d a bag, seed %d: rates are off by %.3f and %.3f on the average", c.annotators,
					c.each, seed, d01, d10)
			}
			held += h / seeds
		}
		t.Logf("%d annotators, %d a bag: %.1f %% of the intervals hold the true rate", c.annotators, c.each, 100*held)
		if held < c.held {
			t.Errorf("%d annotators, %d a bag: %.0f %% of the intervals of 95 %% hold the true rate", c.annotators, c.each,
				100*held)
		}
	}
}

// area is the area under the ROC curve of scores.
func area(scores []float64, truth []bool) float64 {
	var holds, not []float64
	for i, v := range scores {
		if truth[i] {
			holds = append(holds, v)
		} else {
			not = append(not, v)
		}
	}
	slices.Sort(not)
	sum := 0.0
	for _, v := range holds {
		below, _ := slices.BinarySearch(not, v)
		upTo, _ := slices.BinarySearch(not, math.Nextafter(v, math.Inf(1)))
		sum += float64(below+upTo) / 2
	}
	return sum / float64(len(holds)*len(not))
}

// dense are the posteriors of all labels, and the shares of votes.
func dense(in *Input, r *Result) (posterior, votes []float64) {
	posterior, votes = make([]float64, in.Bags*in.Classes), make([]float64, in.Bags*in.Classes)
	asked := make([]float64, in.Bags)
	for _, row := range in.Rows {
		asked[row.Bag]++
		for _, k := range row.Given {
			votes[int(row.Bag)*in.Classes+int(k)]++
		}
	}
	for i := range in.Bags {
		r.Posterior(i, posterior[i*in.Classes:(i+1)*in.Classes])
		for k := range in.Classes {
			votes[i*in.Classes+k] /= max(asked[i], 1)
		}
	}
	return posterior, votes
}

func TestEstimate_PosteriorIsCalibratedAndAboveVotes(t *testing.T) {
	pairs := append(some(15, pair{.1, .01}, pair{.5, .05}),
		some(5, pair{.7, .3}, pair{.7, .3})...) // and 5 annotators who guess
	c := crowd{bags: 2000, pairs: pairs, prior: frequencies(6, .05, .4), each: 4, seed: 3}
	in, truth := c.simulated()
	r := estimated(t, in)
	posterior, votes := dense(&in, r)
	if a, v := area(posterior, truth), area(votes, truth); a < v+.02 {
		t.Errorf("AUC %.4f, that of votes is %.4f", a, v)
	}
	z, scores := make([]uint8, len(truth)), make([]float32, len(truth))
	for i, y := range truth {
		if scores[i] = float32(posterior[i]); y {
			z[i] = 1
		}
	}
	calibrated, err := eval.Evaluate(eval.Input{Bags: in.Bags, Classes: in.Classes, Scores: scores, Labels: z},
		eval.Options{})
	expect.OK(t, err)
	if ece := calibrated.Labels.ECE.All; ece > .015 {
		t.Errorf("expected calibration error %.4f", ece)
	}
	wrong, lacking := 0.0, 0.0
	for i, y := range truth {
		if yes := posterior[i] >= .5; yes && !y {
			wrong++
		} else if !yes && y {
			lacking++
		}
	}
	if math.Abs(r.Incorrect-wrong) > .2*wrong+10 || math.Abs(r.Missing-lacking) > .2*lacking+10 {
		t.Errorf("expected %.0f incorrect and %.0f missing labels of the consensus, there are %.0f and %.0f", r.Incorrect,
			r.Missing, wrong, lacking)
	}
	for j := range r.Annotators {
		if guesses := slices.Contains(r.Annotators[j].Remarks, NoBetter); guesses != (j >= 15) {
			t.Errorf("annotator %d with %v: %+v", j, pairs[j], r.Annotators[j])
		}
	}
}

// If one pair of rates for each annotator leaves too many answers unexplained, labels are estimated separately.
func TestEstimate_RatesThatDifferAmongLabels(t *testing.T) {
	for seed := range uint64(2) {
		c := crowd{bags: 1000, pairs: some(30, pair{.1, .02}, pair{.5, .1}), prior: frequencies(6, .1, .4), each: 3,
			seed: seed}
		in, _ := c.simulated()
		for j := range c.pairs { // annotators often add class 2
			c.pairs[j].q10 = .35
		}
		often, _ := c.simulated()
		for i := range in.Rows {
			in.Rows[i].Given = without(in.Rows[i].Given, []int32{2})
			if _, ok := slices.BinarySearch(often.Rows[i].Given, 2); ok {
				in.Rows[i].Given = append(in.Rows[i].Given, 2)
				slices.Sort(in.Rows[i].Given)
			}
		}
		r, o := estimated(t, in), DefaultOptions()
		o.ByLabel = true
		want, err := Estimate(t.Context(), in, o)
		if err != nil || r.Objective != want.Objective || !slices.ContainsFunc(r.Notes, func(s string) bool {
			return strings.Contains(s, "each label is estimated separately")
		}) {
			t.Errorf("seed %d: %v, objective %g, by label %g, notes %q", seed, err, r.Objective, want.Objective, r.Notes)
		}
	}
}

// Label by label is what each label gives by itself; rates are shares of all labels.
func TestEstimate_ByLabel(t *testing.T) {
	c := crowd{bags: 700, pairs: some(9, pair{.1, .02}, pair{.4, .1}), prior: frequencies(4, .15, .4), each: 4, seed: 3}
	for _, informed := range []float64{0, 1} {
		c.informed = informed
		in, truth := c.simulated()
		in.Classes, in.Bags = 5, 701 // one more class and bag, without a label
		if informed > 0 {
			in.Logits = wider(in.Logits, 700, 4)
		}
		o := DefaultOptions()
		o.ByLabel = true
		r := expect.Value(Estimate(t.Context(), in, o))(t)
		finite(t, r)
		p, e := make([]float64, 5), make([]float64, 5)
		likely, right := 0, 0
		var sum Result
		for k := range 4 {
			one := estimated(t, *in.only(k))
			sum.PooledQ01, sum.PooledQ10 = sum.PooledQ01+one.PooledQ01/4, sum.PooledQ10+one.PooledQ10/4
			sum.Strength01, sum.Strength10 = sum.Strength01+one.Strength01/4, sum.Strength10+one.Strength10/4
			sum.Objective, sum.Iterations = sum.Objective+one.Objective, sum.Iterations+one.Iterations
			sum.Missing, sum.pairs, sum.asked = sum.Missing+one.Missing, sum.pairs+one.pairs, sum.asked+one.asked
			p1, e1 := make([]float64, 1), make([]float64, 1)
			for i := range 701 {
				r.Posterior(i, p)
				r.Evidence(i, e)
				one.Posterior(i, p1)
				one.Evidence(i, e1)
				if p[k] != p1[0] || e[k] != e1[0] || p[4] != 0 || e[4] != 0 {
					t.Fatalf("bag %d: %v and %v, label %d by itself %v and %v", i, p, e, k, p1, e1)
				}
				r.Each(i, func(cell Cell) {
					if cell.Class == k && cell.Holds {
						likely++
						if i < 700 && truth[4*i+k] {
							right++
						}
					}
				})
			}
		}
		if !near([]float64{r.PooledQ01, r.PooledQ10, r.Strength01, r.Strength10, r.Missing, r.Agreement},
			[]float64{sum.PooledQ01, sum.PooledQ10, sum.Strength01, sum.Strength10, sum.Missing, sum.pairs / sum.asked}) ||
			r.Objective != sum.Objective || r.Iterations != sum.Iterations {
			t.Errorf("%+v, of the labels together %+v", r, sum)
		}
		if likely != r.Consensus || math.Abs(float64(likely-right)-r.Incorrect) > 40 {
			t.Errorf("%d labels of which %d are right; the result has %d with %.1f incorrect", likely, right, r.Consensus,
				r.Incorrect)
		}
		d01, d10, held := errorsOf(r, c.pairs)
		if d01 > .05 || d10 > .02 || held < .7 || len(r.Expected) != 5 {
			t.Errorf("rates are off by %.3f and %.3f on the average, %.2f of the intervals hold", d01, d10, held)
		}
		for j, a := range r.Annotators {
			if len(a.Remarks) > 0 || !a.Told || !(a.Accuracy > .8 && a.Accuracy < 1) || !(a.Agreement > .6) {
				t.Errorf("annotator %d: %+v", j, a)
			}
		}
		if !slices.Contains(r.Notes, "No annotator gave 1 of 5 labels: they have no estimates.") {
			t.Errorf("notes %q", r.Notes)
		}
	}
	if _, err := Estimate(t.Context(), Input{Bags: 1, Annotators: 1, Classes: 1, Rows: []Row{{Given: []int32{}}}},
		Options{Iterations: 1, Tolerance: .1, Confidence: .9, ByLabel: true}); !errors.Is(err, ErrUnidentified) {
		t.Errorf("without a label: %v", err)
	}
}

// wider has one more row and column of zeros.
func wider(values []float32, rows, columns int) []float32 {
	var out []float32
	for i := range rows {
		out = append(append(out, values[i*columns:(i+1)*columns]...), 0)
	}
	return append(out, make([]float32, columns+1)...)
}

// The objective may fall by no more than rounding, and by what the grid leaves out.
func TestEstimate_ObjectiveNeverFalls(t *testing.T) {
	for name, c := range map[string]crowd{
		"direct":   {bags: 60, pairs: some(6, pair{.1, .01}, pair{.6, .1}), prior: frequencies(5, .05, .4), each: 3},
		"grid":     {bags: 1000, pairs: some(6, pair{.1, .01}, pair{.6, .1}), prior: frequencies(5, .05, .4), each: 3},
		"two":      {bags: 900, pairs: some(9, pair{.1, .01}, pair{.6, .1}), prior: frequencies(5, .05, .4), each: 2},
		"reversed": {bags: 500, pairs: some(6, pair{.1, .05}, pair{.9, .8}), prior: frequencies(5, .1, .6), each: 4},
		"classifier": {bags: 700, pairs: some(6, pair{.1, .01}, pair{.6, .1}), prior: frequencies(5, .05, .4), each: 1,
			informed: 1},
		"misled": {bags: 300, pairs: some(9, pair{.1, .02}, pair{.3, .1}), prior: frequencies(3, .1, .4), each: 9,
			informed: 1},
	} {
		for seed := range uint64(2) {
			c.seed = seed
			in, _ := c.simulated()
			if name == "misled" { // by a classifier that is sure of what is wrong: whole Newton steps lead too far
				random := rng.New(1)
				for i := range in.Logits {
					in.Logits[i] = 5 * float32(2*random.Intn(2)-1)
				}
			}
			e := expect.Value(estimate(t.Context(), &in, DefaultOptions()))(t)
			for i := 1; i < len(e.trace); i++ {
				a, b := e.trace[i-1], e.trace[i]
				if a.phase == b.phase && !(b.objective >= a.objective-1e-9*math.Abs(a.objective)) {
					t.Errorf("%s, seed %d: phase %d falls from %.9g to %.9g", name, seed, a.phase, a.objective, b.objective)
				}
			}
			if e.trace[len(e.trace)-1].phase != phases {
				t.Errorf("%s: %d phases", name, e.trace[len(e.trace)-1].phase)
			}
		}
	}
}

func TestEstimate_LikelihoodAndPosteriorAreThoseOfTheModel(t *testing.T) {
	for name, in := range modelled(t) {
		e := expect.Value(estimate(t.Context(), in, DefaultOptions()))(t)
		if got, want := e.objective-e.penalty(), logLikelihood(e); !(math.Abs(got-want) < 1e-8*math.Abs(want)) {
			t.Errorf("%s: log likelihood %.12g, want %.12g", name, got, want)
		}
		r, p, evidence := e.result(), make([]float64, 3), make([]float64, 3)
		for i, rows := range rowsOf(in) {
			r.Posterior(i, p)
			r.Evidence(i, evidence)
			for k := range p {
				with, without := logJoint(e, rows, i, k)
				if want := 1 / (1 + math.Exp(without-with)); !(math.Abs(p[k]-want) < 1e-9) {
					t.Errorf("%s, bag %d, class %d: posterior %.12g, want %.12g", name, i, k, p[k], want)
				}
				if want := with - without - e.base(i, k); !(math.Abs(evidence[k]-want) < 1e-9) {
					t.Errorf("%s, bag %d, class %d: evidence %.12g, want %.12g", name, i, k, evidence[k], want)
				}
			}
		}
	}
}

func without(all, list []int32) []int32 {
	return slices.DeleteFunc(all, func(k int32) bool { return slices.Contains(list, k) })
}

func TestEstimate_OrderAndNumbersDoNotMatter(t *testing.T) {
	c := crowd{bags: 400, pairs: some(7, pair{.1, .01}, pair{.6, .1}), prior: frequencies(5, .05, .5), each: 3, seed: 4}
	in, _ := c.simulated()
	want := estimated(t, in)
	again := estimated(t, in)
	s := rng.New(5)
	bag, who, class := permuted(&s, in.Bags), permuted(&s, in.Annotators), permuted(&s, in.Classes)
	other := in
	other.Rows = nil
	for _, i := range permuted(&s, len(in.Rows)) {
		row := in.Rows[i]
		row.Bag, row.Annotator = int32(bag[row.Bag]), int32(who[row.Annotator])
		row.Given = slices.Clone(row.Given)
		for n, k := range row.Given {
			row.Given[n] = int32(class[k])
		}
		slices.Sort(row.Given)
		other.Rows = append(other.Rows, row)
	}
	got := estimated(t, other)
	for j, a := range want.Annotators {
		b := got.Annotators[who[j]]
		if math.Abs(a.Q01-b.Q01) > 1e-6 || math.Abs(a.Q10-b.Q10) > 1e-6 || a.Bags != b.Bags || a.Given != b.Given {
			t.Errorf("annotator %d: %+v, in another order %+v", j, a, b)
		}
		if a.Q01 != again.Annotators[j].Q01 {
			t.Errorf("annotator %d: %v, again %v", j, a.Q01, again.Annotators[j].Q01)
		}
	}
	p, q := make([]float64, in.Classes), make([]float64, in.Classes)
	for i := range in.Bags {
		want.Posterior(i, p)
		got.Posterior(bag[i], q)
		for k := range p {
			if math.Abs(p[k]-q[class[k]]) > 1e-5 {
				t.Fatalf("bag %d, class %d: %v, in another order %v", i, k, p[k], q[class[k]])
			}
		}
	}
}

func TestEstimate_WithClassifier(t *testing.T) {
	c := crowd{bags: 1500, pairs: some(4, pair{.1, .02}, pair{.5, .1}), prior: frequencies(6, .1, .4), each: 1, seed: 6,
		informed: 1}
	in, truth := c.simulated()
	r := estimated(t, in)
	if d01, d10, _ := errorsOf(r, c.pairs); d01 > .05 || d10 > .02 {
		t.Errorf("rates are off by %.3f and %.3f on the average", d01, d10)
	}
	posterior, votes := dense(&in, r)
	logits := make([]float64, len(truth))
	for i, o := range in.Logits {
		logits[i] = float64(o)
	}
	if a, v, o := area(posterior, truth), area(votes, truth), area(logits, truth); a < max(v, o)+.01 {
		t.Errorf("AUC %.4f, that of labels is %.4f and of the classifier %.4f", a, v, o)
	}
	if len(r.Notes) == 0 || !strings.Contains(r.Notes[0], "depend on the classifier alone") {
		t.Errorf("notes %q", r.Notes)
	}
	in.Logits = nil
	if _, err := Estimate(t.Context(), in, DefaultOptions()); !errors.Is(err, ErrUnidentified) ||
		!strings.Contains(err.Error(), "each sample has one annotator") {
		t.Errorf("without a classifier: %v", err)
	}
}

// finite fails if a figure that must exist is not finite.
func finite(t testing.TB, r *Result) {
	t.Helper()
	p := make([]float64, r.Classes)
	for i := range r.Bags {
		for _, f := range []func(int, []float64){r.Posterior, r.Evidence} {
			f(i, p)
			for k, v := range p {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("bag %d, class %d: %v", i, k, v)
				}
			}
		}
	}
	for j, a := range r.Annotators {
		for _, v := range []float64{a.Q01, a.Q10, a.Informedness, a.Incorrect, a.Missing} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("annotator %d: %+v", j, a)
			}
		}
	}
}

func TestEstimate_Remarks(t *testing.T) {
	pairs := some(9, pair{.1, .02}, pair{.3, .05})
	c := crowd{bags: 300, pairs: pairs, prior: frequencies(5, .1, .4), each: 4, seed: 8}
	in, _ := c.simulated()
	reversed := pair{.95, .6}
	c.pairs = append(some(8, pair{.1, .02}, pair{.3, .05}), reversed)
	flipped, _ := c.simulated()
	if r := estimated(t, flipped); !slices.Contains(r.Annotators[8].Remarks, Reversed) {
		t.Errorf("of one who says the opposite: %+v", r.Annotators[8])
	}
	// One more annotator who always gives the same answer, one who looks at two bags, one who shares no bag,
	// and one who looks at none.
	in.Annotators += 4
	for i := range int32(300) {
		in.Rows = append(in.Rows, Row{Bag: i, Annotator: 9, Given: []int32{2}})
	}
	in.Rows = append(in.Rows, Row{Bag: 0, Annotator: 10, Given: []int32{1}}, Row{Bag: 1, Annotator: 10, Given: []int32{}},
		Row{Bag: 300, Annotator: 11, Given: []int32{0}}, Row{Bag: 301, Annotator: 11, Given: []int32{}})
	in.Bags = 302
	r := estimated(t, in)
	for j, want := range map[int]Remark{9: AlwaysSame, 10: MostlyPrior, 11: Alone, 12: Idle} {
		if !slices.Contains(r.Annotators[j].Remarks, want) {
			t.Errorf("annotator %d: %q, want %q", j, r.Annotators[j].Remarks, want)
		}
	}
	if a := r.Annotators[11]; a.Told || a.Q01 != r.PooledQ01 || !math.IsNaN(a.Q01Interval.Low) {
		t.Errorf("of one alone: %+v", a)
	}
	for j := range 9 {
		if a := r.Annotators[j]; len(a.Remarks) > 0 || !(a.Agreement > .5 && a.Accuracy > .7 && a.Accuracy < 1) {
			t.Errorf("annotator %d: %+v", j, a)
		}
	}
	if !slices.ContainsFunc(r.Notes, func(s string) bool {
		return strings.Contains(s, "1 of 12 annotators share no sample")
	}) {
		t.Errorf("notes %q", r.Notes)
	}
}

func TestEstimate_Extremes(t *testing.T) {
	t.Run("all agree", func(t *testing.T) {
		in := Input{Bags: 20, Annotators: 3, Classes: 2}
		for i := range int32(20) {
			for j := range int32(3) {
				in.Rows = append(in.Rows, Row{Bag: i, Annotator: j, Given: []int32{i % 2}})
			}
		}
		r := estimated(t, in)
		if r.Agreement != 1 || r.Consensus != 20 || r.Incorrect > 1 || !slices.ContainsFunc(r.Notes,
			func(s string) bool { return strings.Contains(s, "agree on every label") }) {
			t.Errorf("%+v", r)
		}
	})
	t.Run("hundreds of annotators of one bag", func(t *testing.T) {
		in := Input{Bags: 3, Annotators: 300, Classes: 3}
		s := rng.New(1)
		for j := range int32(300) {
			row := Row{Annotator: j, Bag: 0, Given: []int32{}}
			if s.Float64() < .8 {
				row.Given = []int32{1}
			}
			in.Rows = append(in.Rows, row, Row{Annotator: j, Bag: 1 + j%2, Given: []int32{1 + j%2}})
		}
		r := estimated(t, in)
		p := make([]float64, 3)
		if r.Posterior(0, p); !(p[0] < .01 && p[1] > .99 && p[2] < .01) {
			t.Errorf("posterior %v", p)
		}
	})
	t.Run("groups that share nothing", func(t *testing.T) {
		a := crowd{bags: 100, pairs: some(4, pair{.1, .02}, pair{.3, .05}), prior: frequencies(4, .1, .4), each: 3, seed: 1}
		in, _ := a.simulated()
		b, _ := a.simulated()
		for _, row := range b.Rows {
			row.Bag, row.Annotator = row.Bag+100, row.Annotator+4
			in.Rows = append(in.Rows, row)
		}
		in.Bags, in.Annotators = 200, 8
		r := estimated(t, in)
		if !slices.ContainsFunc(r.Notes, func(s string) bool { return strings.Contains(s, "2 groups") }) {
			t.Errorf("notes %q", r.Notes)
		}
	})
	t.Run("nonsense", func(t *testing.T) {
		c := crowd{bags: 200, pairs: some(5, pair{.5, .5}, pair{.5, .5}), prior: frequencies(3, .2, .5), each: 3, seed: 1}
		in, _ := c.simulated()
		estimated(t, in)
	})
}
