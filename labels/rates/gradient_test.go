package rates

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"nmn/eval"
	"nmn/internal/expect"
)

// The gradient of the target matches central differences, in each parameter and on both sides of the limits.
func TestEvidence_GradientIsThatOfItsValue(t *testing.T) {
	e := evidence{cells: []cell{{score: -3, present: 2, absent: 40}, {score: -.5, present: 5, absent: 9},
		{score: 1, present: 12, absent: 6}, {score: 4, present: 30, absent: 3}}}
	for _, m := range []model{{.2, .05, 1.2, -.4}, {.6, .3, .5, 2}, {.01, .001, 3, -3}} {
		v := m.parameters()
		g, information := e.gradient(v)
		for i := range v {
			const h = 1e-5
			up, down := v, v
			up[i], down[i] = v[i]+h, v[i]-h
			if want := (e.value(up) - e.value(down)) / (2 * h); math.Abs(g[i]-want) > 1e-5*(1+math.Abs(want)) {
				t.Errorf("%+v, parameter %d: %g, by differences %g", m, i, g[i], want)
			}
			if information[i*parameters+i] <= 0 {
				t.Errorf("%+v, parameter %d: information %g", m, i, information[i*parameters+i])
			}
		}
	}
}

func TestRaise_RefusesBadInput(t *testing.T) {
	in := draw(1, 40, 2, 0, 2, always(.1), always(.1))
	r := estimate(t, in, nil)
	r.Classes = r.Classes[1:]
	raised, _, err := RaiseToFloor(t.Context(), in, r, DefaultOptions())
	if raised != nil || !errors.Is(err, eval.ErrShape) {
		t.Errorf("rates of one class for two: %v", err)
	}
	in.Labels = in.Labels[1:]
	if _, _, err := RaiseToFloor(t.Context(), in, &Result{Classes: make([]Class, 2)}, DefaultOptions()); !errors.Is(err,
		eval.ErrShape) {
		t.Errorf("a label is missing: %v", err)
	}
}

// A report has the thresholds for the calibrated scores, floors on request, and the distance of the rates to
// the true ones if these are known.
func TestNewReport_OfDrawnLabels(t *testing.T) {
	const q01, q10 = .3, .05
	drawn, clean := draw(3, 6000, 2, -1, 3, always(q01), always(q10)), draw(3, 6000, 2, -1, 3, always(0), always(0))
	in := &eval.Input{Bags: drawn.Bags, Classes: drawn.Classes, Scores: drawn.Scores, Logits: true,
		Labels: drawn.Labels}
	r, err := NewReport(t.Context(), in, false, DefaultOptions())
	expect.OK(t, err)
	if r.Floor != nil || r.Truth != nil || r.MeanError != nil || len(r.Thresholds) != 2 {
		t.Errorf("without floors and truth: %+v", r)
	}
	for _, threshold := range append(slices.Clone(r.Thresholds), r.Threshold) { // F1 is best below one half
		if !(threshold > .2 && threshold < .5) {
			t.Errorf("thresholds %g and %g, want probabilities of .2 to .5", r.Threshold, r.Thresholds)
		}
	}
	in.Truth = clean.Labels
	r, err = NewReport(t.Context(), in, true, DefaultOptions())
	expect.OK(t, err)
	if r.Floor == nil || r.Classes[0].Q01 < r.Floor.Q01 || r.Classes[1].Q10 < r.Floor.Q10 {
		t.Errorf("raised to %+v, rates %+v", r.Floor, r.Classes)
	}
	if r.Truth == nil || r.MeanError == nil || !(r.MeanError.Q01 < .1 && r.MeanError.Q10 < .05) {
		t.Errorf("mean error %+v against %+v", r.MeanError, r.Truth)
	}
	in.Scores = in.Scores[1:]
	if _, err := NewReport(t.Context(), in, false, DefaultOptions()); !errors.Is(err, eval.ErrShape) ||
		!strings.Contains(err.Error(), "scores") {
		t.Errorf("a score is missing: %v", err)
	}
}

func TestMeanGap_LeavesOutWhatIsUnknown(t *testing.T) {
	nan := math.NaN()
	if got := meanGap([]float64{.1, nan, .5, .4}, []float64{.3, .2, nan, .3}); math.Abs(float64(got)-.15) > 1e-12 {
		t.Errorf("mean distance %g, want .15", got)
	}
	if got := meanGap([]float64{nan}, []float64{.5}); !math.IsNaN(float64(got)) {
		t.Errorf("of nothing: %g", got)
	}
}
