package train

import (
	"math"
	"slices"
	"testing"

	"nmn/internal/durable"
)

// descended sweeps plain gradient descent over ½ Σ h x², whose rates diverge from 2/h of the largest h on.
func descended(curvatures []float64, sweep LearningRateSweep) *LearningRateSearch {
	x := make([]float64, len(curvatures))
	for i := range x {
		x[i] = 1
	}
	var f learningRateFinder
	for range sweep.Steps {
		sum := 0.0
		for _, h := range curvatures {
			sum += h / 2
		}
		f.starts = append(f.starts, sum)
	}
	diverged := false
	for step := 1; step <= sweep.Steps && !diverged; step++ {
		loss := 0.0
		for i, h := range curvatures {
			loss += h * x[i] * x[i] / 2
		}
		rate := sweep.at(step)
		diverged = f.add(step, rate, loss)
		for i, h := range curvatures {
			x[i] -= rate * h * x[i]
		}
	}
	return f.search(diverged)
}

func TestLearningRateSearch_FindsTheEdgeOfAQuadratic(t *testing.T) {
	for _, most := range []float64{3, 30, 4000} {
		found := descended([]float64{most, most / 2, most / 10}, DefaultSweep())
		edge := 2 / most
		if !found.Diverged || found.Edge < edge/2 || found.Edge > 8*edge {
			t.Errorf("curvature %g: edge at %g, the theory has %g", most, found.Edge, edge)
		}
		if found.Suggested > edge || found.Suggested < edge/100 || found.Steepest > edge {
			t.Errorf("curvature %g: suggested %g, steepest at %g; rates below %g converge", most, found.Suggested,
				found.Steepest, edge)
		}
	}
}

func TestLearningRateSearch_SaysNothingWhereNothingIsLearned(t *testing.T) {
	var f learningRateFinder
	for step := range 50 {
		loss := 3 + math.Sin(float64(step))
		f.starts = append(f.starts, loss-.001*math.Cos(float64(step)))
		f.add(step+1, math.Pow(10, float64(step)/10), loss)
	}
	if s := f.search(false); s.Suggested != 0 || s.Steepest != 0 || s.Edge != 0 {
		t.Errorf("%+v", *s)
	}
	if s := (&learningRateFinder{}).search(true); s.Suggested != 0 || len(s.Points) != 0 {
		t.Errorf("of no step at all: %+v", *s)
	}
	var nan learningRateFinder
	if !nan.add(1, 1, math.NaN()) || !nan.add(1, 1, math.Inf(1)) || len(nan.points) != 0 {
		t.Error("a loss that is no number does not end the sweep")
	}
}

func TestFindLearningRate_TwiceIsTheSameAndLeavesNoFiles(t *testing.T) {
	t.Parallel()
	r := newRig()
	r.bags, r.directory, r.validation = 48, t.TempDir(), true
	r.config.EMA, r.config.EvaluateEpochs, r.config.Schedule = .9, 1, Cosine
	var all [2]*LearningRateSearch
	for i := range all {
		r.threads, r.workers = 1+i, 1+2*i
		var err error
		if all[i], err = FindLearningRate(t.Context(), r.options(t), LearningRateSweep{1e-6, 10, 71}); err != nil {
			t.Fatal(err)
		}
	}
	first := all[0]
	if !slices.Equal(first.Points, all[1].Points) || first.Suggested != all[1].Suggested {
		t.Error("another number of threads and workers gives other losses")
	}
	if first.Suggested < 1e-5 || first.Suggested > .1 {
		t.Errorf("suggests %g for Adam, steepest %g, edge %g", first.Suggested, first.Steepest, first.Edge)
	}
	for i, p := range first.Points {
		if want := 1e-6 * math.Pow(1e7, float64(i)/70); math.Abs(p.LearningRate/want-1) > 1e-9 || p.Step != i+1 {
			t.Errorf("step %d has rate %g, want %g", p.Step, p.LearningRate, want)
		}
	}
	if durable.Exists(r.directory + "/" + LastName) {
		t.Error("a checkpoint was written")
	}
}

func TestFindLearningRate_RefusesASweepThatIsNone(t *testing.T) {
	for _, s := range []LearningRateSweep{{1, 1, 10}, {0, 1, 10}, {1e-3, 1, 1}, {math.NaN(), 1, 5}} {
		if _, err := FindLearningRate(t.Context(), newRig().options(t), s); err == nil {
			t.Errorf("%+v is accepted", s)
		}
	}
}
