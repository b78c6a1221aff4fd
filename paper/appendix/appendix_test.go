package appendix

import (
	"math"
	"testing"

	"nmn/internal/expect"
	"nmn/paper/claims"
)

func TestSolve_BothWaysEndAtTheSamePoint(t *testing.T) {
	s, err := Solve(t.Context(), 1)
	expect.OK(t, err)
	t.Logf("%+v", *s)
	if s.GradientGap > 1e-6 || s.RateGap > 2e-3 || s.LikelihoodGap > 1e-6 || s.Rounds < 2 || s.Gradients < 2 {
		t.Errorf("%+v", *s)
	}
}

func TestGradient_OfTheSmallProblemIsThatOfItsDifferences(t *testing.T) {
	p := draw(7)
	at := []float64{.1, -.4, .3, -1, -2, .5, .2, -.3, -.5, -1.5}
	got := make([]float64, len(at))
	(&together{p, at}).gradient(got)
	for i := range at {
		const h = 1e-5
		at[i] += h
		high := (&together{p, at}).surprise()
		at[i] -= 2 * h
		low := (&together{p, at}).surprise()
		at[i] += h
		if want := (high - low) / (2 * h); math.Abs(got[i]-want) > 1e-5*max(1, math.Abs(want)) {
			t.Errorf("gradient %d is %v, differences give %v", i, got[i], want)
		}
	}
}

func TestResults_ConfirmTheAppendix(t *testing.T) {
	t.Parallel()
	var results []claims.Result
	for _, seed := range []uint64{1, 2, 3} {
		s, err := Solve(t.Context(), seed)
		expect.OK(t, err)
		results = append(results, s.Results()...)
	}
	expect.OK(t, claims.Validate(results))
	for _, v := range claims.Check(results) {
		if v.ID == "em-function" && v.Outcome != claims.Confirmed {
			t.Errorf("%s: %s", v.Outcome, v.Reason)
		}
	}
}
