package rates

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"nmn/eval"
	"nmn/internal/expect"
	"nmn/internal/rng"
)

// draw makes logits o ~ N(mean, deviation²), labels y ~ Bern(sigmoid(o)), and flips them.
func draw(seed uint64, bags, classes int, mean, deviation float64, q01, q10 func(class int) float64) Input {
	in := Input{Bags: bags, Classes: classes, Scores: make([]float32, bags*classes),
		Labels: make([]uint8, bags*classes)}
	s := rng.New(seed)
	for i := range in.Scores {
		c := i % classes
		o := s.Normal(mean, deviation)
		in.Scores[i] = float32(o)
		if y := s.Float64() < Sigmoid(o); y && s.Float64() >= q01(c) || !y && s.Float64() < q10(c) {
			in.Labels[i] = 1
		}
	}
	return in
}

func always(q float64) func(int) float64 { return func(int) float64 { return q } }

func estimate(t *testing.T, in Input, change func(*Options)) *Result {
	t.Helper()
	o := DefaultOptions()
	if change != nil {
		change(&o)
	}
	r, err := Estimate(t.Context(), in, o)
	expect.OK(t, err)
	return r
}

func meanOf(r *Result, of func(Class) float64) float64 {
	sum := 0.0
	for _, c := range r.Classes {
		sum += of(c)
	}
	return sum / float64(len(r.Classes))
}

// unlessShort skips what measures numbers of thousands of bags under -short, which is for the race detector.
func unlessShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("thousands of bags")
	}
}

// The rates that were drawn are found, and the scale of the scores.
func TestEstimate_FindsTheRatesOfDrawnLabels(t *testing.T) {
	unlessShort(t)
	for seed := range uint64(3) {
		r := estimate(t, draw(seed, 5000, 6, -1, 3, always(.3), always(.1)), nil)
		near(t, "mean q01", meanOf(r, func(c Class) float64 { return c.Q01 }), .3, .015)
		near(t, "mean q10", meanOf(r, func(c Class) float64 { return c.Q10 }), .1, .01)
		near(t, "mean a", meanOf(r, func(c Class) float64 { return c.A }), 1, .08)
		near(t, "mean b", meanOf(r, func(c Class) float64 { return c.B }), 0, .1)
		for _, c := range r.Classes {
			near(t, "q01 of a class", c.Q01, .3, .06)
			near(t, "q10 of a class", c.Q10, .1, .03)
			if !c.Usable() || len(c.Diagnoses) != 0 {
				t.Errorf("a clear case is diagnosed with %v", c.Diagnoses)
			}
		}
	}
}

func TestEstimate_DoesNotDependOnWorkers(t *testing.T) {
	in := draw(7, 400, 21, -1, 3, always(.3), always(.1))
	one := estimate(t, in, func(o *Options) { o.Workers = 1 })
	for _, workers := range []int{5, 2, 64} {
		if workers != 5 && testing.Short() {
			continue
		}
		if many := estimate(t, in, func(o *Options) { o.Workers = workers }); !reflect.DeepEqual(one, many) {
			t.Errorf("%d workers give other results than one", workers)
		}
	}
}

// Intervals hold the true rate about as often as they say, where classes differ, next to zero too.
func TestEstimate_IntervalsCoverTheTruth(t *testing.T) {
	unlessShort(t)
	q01 := func(c int) float64 { return []float64{.05, .15, .3, .4}[c%4] }
	q10 := func(c int) float64 { return []float64{0, .02, .05, .1}[c/4%4] }
	covered01, covered10, all := 0, 0, 0
	for seed := range uint64(3) {
		r := estimate(t, draw(seed, 1500, 48, -1.5, 3, q01, q10), nil)
		for c, class := range r.Classes {
			all++
			if class.Q01Interval.Low <= q01(c) && q01(c) <= class.Q01Interval.High {
				covered01++
			}
			if class.Q10Interval.Low <= q10(c) && q10(c) <= class.Q10Interval.High {
				covered10++
			}
			if class.Q01 < class.Q01Interval.Low || class.Q01 > class.Q01Interval.High {
				t.Errorf("q01 %g lies outside of its interval %v", class.Q01, class.Q01Interval)
			}
		}
	}
	t.Logf("of %d intervals of 95 %%, %d hold q01 and %d hold q10", all, covered01, covered10)
	for what, n := range map[string]int{"q01": covered01, "q10": covered10} {
		if share := float64(n) / float64(all); share < .88 || share > .995 {
			t.Errorf("%s lies in %.3f of the intervals, which say .95", what, share)
		}
	}
}

// Problems are reported, and such classes have no rates.
func TestEstimate_DiagnosesWhatCannotBeKnown(t *testing.T) {
	const bags, classes = 2000, 7
	in := draw(11, bags, classes, -1, 3, always(.25), always(.05))
	noise := rng.New(12)
	for i := range bags {
		in.Scores[i*classes] = float32(noise.Normal(0, 2)) // predicts nothing
		in.Scores[i*classes+6] = .2*in.Scores[i*classes+6] + float32(noise.Normal(0, 3))
		in.Labels[i*classes+1] = 0 // never observed
		in.Labels[i*classes+2] = 1 // always observed
		row := in.Labels[i*classes:]
		if row[3] = 0; i < 9 {
			row[3] = 1
		}
	}
	clean := draw(13, bags, 1, -1, 3, always(0), always(0))
	for i := range bags {
		in.Scores[i*classes+4], in.Labels[i*classes+4] = clean.Scores[i], clean.Labels[i]
	}
	r := estimate(t, in, func(o *Options) { o.MinSlope = .05 })
	for c, want := range [][]Diagnosis{{NotPredicted}, {TooFew}, {TooFew}, {TooFew}, {MaybeNoMissing, MaybeNoIncorrect},
		{}, {WeaklyPredicted}} {
		class := r.Classes[c]
		for _, d := range want {
			if !slices.Contains(class.Diagnoses, d) {
				t.Errorf("class %d: diagnoses %v lack %q (%+v)", c, class.Diagnoses, d, class)
			}
		}
		if usable := c == 4 || c == 5; class.Usable() != usable || math.IsNaN(r.Rates().Q01[c]) == usable {
			t.Errorf("class %d: usable %v, rate %g, diagnoses %v", c, class.Usable(), r.Rates().Q01[c], class.Diagnoses)
		}
		if trainable := c >= 4; class.Trainable() != trainable || math.IsNaN(r.TrainingRates().Q10[c]) == trainable {
			t.Errorf("class %d: trainable %v, rate %g, diagnoses %v",
				c, class.Trainable(), r.TrainingRates().Q10[c], class.Diagnoses)
		}
	}
	if len(r.Classes[5].Diagnoses) != 0 {
		t.Errorf("a clear case is diagnosed: %+v", r.Classes[5])
	}
}

func TestEstimate_TellsProgressAndStops(t *testing.T) {
	in := draw(1, 200, 5, -1, 3, always(.3), always(.1))
	last := 0
	estimate(t, in, func(o *Options) {
		o.Progress = func(done, total int) {
			if done <= last || total != 2*100*5 {
				t.Errorf("progress %d of %d after %d", done, total, last)
			}
			last = done
		}
	})
	if last != 1000 {
		t.Errorf("progress ends at %d", last)
	}
	for _, at := range []int{1, 400, 700} { // in either phase
		ctx, cancel := context.WithCancel(t.Context())
		o := DefaultOptions()
		o.Progress = func(done, _ int) {
			if done >= at {
				cancel()
			}
		}
		if r, err := Estimate(ctx, in, o); !errors.Is(err, context.Canceled) || r != nil {
			t.Errorf("cancelled at %d: %v, %v", at, r, err)
		}
		cancel()
	}
}

func TestEstimate_RefusesBadInput(t *testing.T) {
	good := func() Input { return draw(1, 4, 2, 0, 1, always(0), always(0)) }
	for name, test := range map[string]struct {
		spoil func(*Input, *Options)
		cause error
		says  string
	}{
		"NaN": {func(in *Input, _ *Options) { in.Scores[3] = float32(math.NaN()) }, eval.ErrValue,
			"row 2, column 2"},
		"infinite": {func(in *Input, _ *Options) { in.Scores[0] = float32(math.Inf(1)) }, eval.ErrValue,
			"row 1, column 1"},
		"label": {func(in *Input, _ *Options) { in.Labels[2], in.Words = 2, []string{"cat", "dog"} },
			eval.ErrValue, "(cat)"},
		"scores":     {func(in *Input, _ *Options) { in.Scores = in.Scores[:7] }, eval.ErrShape, "7 scores"},
		"labels":     {func(in *Input, _ *Options) { in.Labels = in.Labels[:6] }, eval.ErrShape, "6 labels"},
		"words":      {func(in *Input, _ *Options) { in.Words = []string{"cat"} }, eval.ErrShape, "1 names"},
		"empty":      {func(in *Input, _ *Options) { in.Bags = 0 }, eval.ErrShape, "0 samples"},
		"slope":      {func(_ *Input, o *Options) { o.MinSlope = 0 }, eval.ErrValue, "MinSlope"},
		"confidence": {func(_ *Input, o *Options) { o.Confidence = 1 }, eval.ErrValue, "Confidence"},
		"iterations": {func(_ *Input, o *Options) { o.Iterations = 0 }, eval.ErrValue, "Iterations"},
	} {
		in, o := good(), DefaultOptions()
		test.spoil(&in, &o)
		if _, err := Estimate(t.Context(), in, o); !errors.Is(err, test.cause) ||
			!strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %v that says %q", name, err, test.cause, test.says)
		}
	}
}

// Scores of any size neither overflow nor end in NaN.
func TestEstimate_StaysFiniteAtExtremeScores(t *testing.T) {
	in := draw(5, 300, 3, 0, 1, always(.2), always(.1))
	for i := range in.Scores {
		in.Scores[i] *= 1e4
		if i%3 == 1 {
			in.Scores[i] = math.MaxFloat32
		}
	}
	for c, class := range estimate(t, in, nil).Classes {
		for _, v := range []float64{class.Q01, class.Q10, class.A, class.B, class.TruePositives, class.Q01Interval.High,
			class.Q10Interval.Low} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("class %d: %+v", c, class)
			}
		}
	}
}

func TestExp_AgreesWithTheLibrary(t *testing.T) {
	worst := 0.0
	for x := -700.0; x <= 700; x += .00931 {
		worst = max(worst, math.Abs(exp(x)/math.Exp(x)-1))
	}
	if !(worst < 4e-15) {
		t.Errorf("relative error %g", worst)
	}
	if exp(0) != 1 {
		t.Errorf("e^0 is %v", exp(0))
	}
}

// Half of the quantile of chi-squared with one degree of freedom is what the target falls by at either end of an
// interval: 3.841/2 for 95 %, 6.635/2 for 99 %.
func TestInterval_EndsWhereTheProfileFallsByTheQuantile(t *testing.T) {
	in := draw(61, 2000, 1, -1, 3, always(.3), always(.1))
	class := estimate(t, in, nil).Classes[0]
	m := model{class.Q01, class.Q10, class.A, class.B}
	for confidence, quantile := range map[float64]float64{.95: 3.841459, .99: 6.634897} {
		e := evidence{cells: summarise(m, firstColumn(&in)).cells, minSlope: DefaultOptions().MinSlope,
			confidence: confidence}
		top, best := e.climb(m.parameters(), held{})
		for _, which := range []int{rate01, rate10} {
			ends := e.interval(m, which)
			for _, end := range []float64{ends.Low, ends.High} {
				at, fixed := top, held{}
				at[which], fixed[which] = logit(end), true
				_, there := e.climb(at, fixed)
				near(t, "fall of the target at an end", best-there, quantile/2, .1)
			}
		}
	}
}

// Classes with too few labels have no say in the pooled rates.
func TestEstimate_RareClassesStayOutOfThePool(t *testing.T) {
	const bags = 1500
	clear := draw(71, bags, 2, -1, 3, always(.3), always(.1))
	with := Input{Bags: bags, Classes: 4}
	for i := range bags {
		with.Scores = append(append(with.Scores, clear.Scores[2*i:2*i+2]...), clear.Scores[2*i], clear.Scores[2*i+1])
		rare, common := uint8(0), uint8(1) // labels that nearly no bag has, and that nearly all have
		if i < 5 {
			rare, common = 1, 0
		}
		with.Labels = append(append(with.Labels, clear.Labels[2*i:2*i+2]...), rare, common)
	}
	alone, together := estimate(t, clear, nil), estimate(t, with, nil)
	if alone.PooledQ01 != together.PooledQ01 || alone.PooledQ10 != together.PooledQ10 {
		t.Errorf("pooled rates %g and %g, with two classes of 5 labels more %g and %g", alone.PooledQ01, alone.PooledQ10,
			together.PooledQ01, together.PooledQ10)
	}
}
