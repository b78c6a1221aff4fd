package audit

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"nmn/eval"
	"nmn/internal/expect"
	"nmn/labels/rates"
)

// logit returns the log-odds of a probability.
func logit(p float64) float64 { return math.Log(p / (1 - p)) }

// verdicts returns n verdicts on labels z with a probability of p. The first ones are wrong.
func verdicts(z uint8, p float64, n, wrong int) (all []verdictOn) {
	for i := range n {
		all = append(all, verdictOn{z, logit(p), i < wrong})
	}
	return all
}

func TestRecalibrated_KnownCases(t *testing.T) {
	for name, c := range map[string]struct {
		verdicts []verdictOn
		z        uint8
		p        float64 // probability of another label
		low      float64
		high     float64
	}{
		"61 of 83 rejected":             {verdicts(1, .99, 83, 22), 1, .99, .17, .37},
		"61 of 83 wild values rejected": {verdicts(1, 1-1e-15, 83, 22), 1, 1 - 1e-15, .17, .37},
		"one rejected":                  {verdicts(1, .99, 1, 0), 1, .99, .93, .95},
		"as expected":                   {verdicts(0, .9, 50, 45), 0, .9, .899, .905},
		"all accepted":                  {verdicts(0, .7, 50, 50), 0, .7, .85, .97},
		"the other kind":                {verdicts(0, .7, 50, 50), 1, .7, .68, .78},
	} {
		r := recalibrated(c.verdicts)
		if got := rates.Sigmoid(r.of(c.z, logit(c.p))); !(c.low <= got && got <= c.high) || !(r.Slope > 0) {
			t.Errorf("%s: %.4f, want %.3f to %.3f, by %+v", name, got, c.low, c.high, r)
		}
	}
}

// The parameters are where the posterior probability is greatest: the gradient vanishes.
func TestRecalibrated_IsTheMaximum(t *testing.T) {
	for _, all := range [][]verdictOn{
		slices.Concat(verdicts(1, .99, 83, 22), verdicts(0, .6, 40, 30), verdicts(0, 1e-4, 5, 5)),
		verdicts(1, .999999, 2000, 0), verdicts(0, .5, 1, 1), {{1, -1e30, true}, {0, 1e30, false}},
	} {
		r := recalibrated(all)
		at := [3]float64{math.Log(r.Slope), r.Shift[0], r.Shift[1]}
		cost, gradient, _ := penalty(all, at)
		for i, g := range gradient {
			if math.Abs(g) > 1e-4 {
				t.Errorf("%d decisions: gradient %v at %v", len(all), gradient, at)
			}
			moved := at
			moved[i] += 1e-5
			if next, _, _ := penalty(all, moved); math.Abs((next-cost)/1e-5-g) > 1e-2*float64(len(all)) || next < cost-1e-9 {
				t.Errorf("%d decisions: the cost goes from %v to %v, gradient %g", len(all), cost, next, g)
			}
		}
	}
}

func TestRecalibration_KeepsTheOrderWithinAKind(t *testing.T) {
	r := recalibrated(verdicts(1, .999, 100, 3))
	values := []float64{-1e30, -1e3, -40, -8.001, -8, -1, 0, 7.999, 8, 8.001, 9, 40, 1e3, 1e30}
	for z := range uint8(2) {
		for i := range values[1:] {
			if a, b := r.of(z, values[i]), r.of(z, values[i+1]); !(a < b) {
				t.Errorf("label %d: %g and %g become %g and %g", z, values[i], values[i+1], a, b)
			}
		}
	}
}

// decisionFile writes verdicts on the first suspects; each nth is accepted.
func decisionFile(t *testing.T, in *Input, suspects []Suspect, accepted int) string {
	t.Helper()
	text := "id,class,given,decision\n"
	for i, s := range suspects {
		f, verdict := in.Finding(i, s), Reject
		if i%accepted == 0 {
			verdict = Accept
		}
		text += strings.Join([]string{f.ID, f.Word, string('0' + rune(f.Given)), string(verdict)}, ",") + "\n"
	}
	path := filepath.Join(t.TempDir(), "decisions.csv")
	expect.OK(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// Rejected suspects make all numbers less sure. The result does not depend on the number of ranks, and an
// empty file changes nothing.
func TestScores_DecisionsRecalibrateTheRest(t *testing.T) {
	in := drawn(2*blockRows+100, 5)
	o := Options{Estimation: rates.DefaultOptions(), MinError: .5}
	o.Estimation.Iterations = 10
	without, err := Scores(t.Context(), in, o)
	if err != nil || len(without.Suspects) < 200 {
		t.Fatal(err, len(without.Suspects))
	}
	o.Decisions = decisionFile(t, &without.Input, nil, 1)
	same, err := Scores(t.Context(), in, o)
	if err != nil || same.Decided != nil || !reflect.DeepEqual(same.Result, without.Result) {
		t.Errorf("no decisions: %v, %+v", err, same.Decided)
	}
	o.Decisions = decisionFile(t, &without.Input, without.Suspects[:83], 4)
	with := expect.Value(Scores(t.Context(), in, o))(t)
	if d := with.Decided; d.Labels != 83 || d.Suspects != 83 || d.Wrong != 21 || !(d.Expected > 75) ||
		!strings.Contains(d.Note,
			"Of 83 labels with decisions, 9") || !strings.Contains(d.Note, "25.3 % are, so") {
		t.Errorf("decided %+v", d)
	}
	expected := func(r *Report) (sum float64) {
		for _, c := range r.Result.Classes {
			sum += c.ExpectedIncorrect + c.ExpectedMissing
		}
		return sum
	}
	if a, b := len(with.Suspects), len(without.Suspects); a >= b/2 {
		t.Errorf("%d suspects, %d without decisions", a, b)
	}
	if a, b := expected(with), expected(without); !(a < .7*b) {
		t.Errorf("%g labels are expected to be wrong, %g without decisions", a, b)
	}
	if n := AtPrecision(with.Open(), .9); n > 0 {
		t.Errorf("%d suspects can be corrected at 90 %%", n)
	}
	worse := 0
	for i, row := range with.Rows {
		if row.Quality > without.Rows[i].Quality {
			worse++
		}
	}
	if worse < len(with.Rows)/2 {
		t.Errorf("%d of %d bags fit better", worse, len(with.Rows))
	}
}

// Decisions on classes that are not audited have no part.
func TestCompare_LeavesOutWhatIsNotAudited(t *testing.T) {
	in := small()
	in.Rates.Q01[1] = math.NaN()
	if d := in.compare(Decisions{{0, 1}: Reject}, .5); d != nil {
		t.Errorf("%+v of a class that is not audited", d)
	}
	d := in.compare(Decisions{{0, 1}: Reject, {0, 0}: Reject}, .5)
	if d == nil || d.Labels != 1 || d.Suspects != 0 ||
		d.Note != "Of 1 label with decisions, 0 were wrong and 1 were right." {
		t.Errorf("%+v", d)
	}
}

// drawn is noisy as Scores takes it.
func drawn(bags, classes int) *eval.Input {
	in := noisy(bags, classes)
	return &eval.Input{Bags: bags, Classes: classes, Scores: in.Logits, Labels: in.Labels, Truth: in.Truth}
}

// Sums over bags are taken by blocks, so that nothing depends on the number of processors.
func TestScores_ProcessorsDoNotMatter(t *testing.T) {
	in := drawn(2*blockRows+100, 5)
	o := Options{Estimation: rates.DefaultOptions(), MinError: .5}
	o.Estimation.Iterations = 10
	var results []*Report
	for _, processors := range []int{1, 3} {
		before := runtime.GOMAXPROCS(processors)
		r, err := Scores(t.Context(), in, o)
		runtime.GOMAXPROCS(before)
		if err != nil || len(r.Suspects) == 0 {
			t.Fatalf("%d suspects, %v", len(r.Suspects), err)
		}
		results = append(results, r)
	}
	if a, b := results[0], results[1]; !reflect.DeepEqual(a.Result, b.Result) || !reflect.DeepEqual(a.Estimate,
		b.Estimate) ||
		!reflect.DeepEqual(a.Judgement, b.Judgement) {
		t.Error("one processor gives another result than three")
	}
}
