package multiclass

import (
	"math"
	"slices"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/labels"
)

// even noise of a fifth is found with scores that are not sure enough, too sure, or right.
func TestAudit_FindsEvenNoise(t *testing.T) {
	const k, rate = 6, .2
	for _, slope := range []float64{.5, 1, 2} {
		in := draw(21, 6000, k, even(rate, k), false) // scores have a slope of 1.5
		sharpen(in, slope/1.5)
		r := audited(t, in)
		expected := 0.
		for _, s := range r.Table.Scores {
			expected += s.Wrong / float64(in.Rows)
		}
		t.Logf("slope %g: %v, rate %.3f, expected %.3f, AP %.3f, self-confidence %.3f, margin %.3f", slope, r.Noise, r.Pooled,
			expected, r.Judgement.Posterior.AP, r.Judgement.Self.AP, r.Judgement.Margin.AP)
		if r.Noise != Even || math.Abs(r.Pooled-rate) > .02 || math.Abs(expected-rate) > .02 {
			t.Errorf("slope %g: %v noise of %.3f, %.3f are expected to be wrong", slope, r.Noise, r.Pooled, expected)
		}
		if j := r.Judgement; j.Posterior.AP < max(j.Self.AP, j.Margin.AP)-.01 {
			t.Errorf("slope %g: %+v", slope, j)
		}
	}
}

// sharpen raises scores to a power.
func sharpen(in *Input, slope float64) {
	for i := range in.Rows {
		row, sum := in.Scores[i*in.Classes:][:in.Classes], 0.
		for y, p := range row {
			row[y] = float32(math.Pow(float64(p), slope))
			sum += float64(row[y])
		}
		for y := range row {
			row[y] /= float32(sum)
		}
	}
}

// Wrong labels between the two likeliest classes look like classes that overlap. The order is no worse than
// the plain ones then, the suspects are what confident learning prunes, and nothing is so probable that it is
// corrected.
func TestAudit_NoiseAtTheBoundary(t *testing.T) {
	in := draw(23, 4000, 5, even(0, 5), true) // scores are p(y|x)
	s := rng.New(24, 1)
	for i := range in.Labels {
		p := in.Scores[i*5:][:5]
		best := labels.Largest(p)
		in.Truth[i] = int32(best)
		in.Labels[i] = int32(best)
		if s.Float64() > float64(p[best]) { // the scores are p(z|x)
			second := slices.Clone(p)
			second[best] = 0
			in.Labels[i] = int32(labels.Largest(second))
		}
	}
	r := audited(t, in)
	if r.Noise != Unknown {
		t.Fatalf("noise is %v", r.Noise)
	}
	if j := r.Judgement; j.Posterior.AP < max(j.Self.AP, j.Margin.AP)-.01 {
		t.Errorf("%+v", j)
	}
	if len(r.Suspects) == 0 || len(r.Suspects) != len(r.Confident.Pruned) {
		t.Errorf("%d suspects, confident learning prunes %d", len(r.Suspects), len(r.Confident.Pruned))
	}
	for _, s := range r.Suspects {
		if s.Suggested == s.Given || s.P > .5 {
			t.Fatalf("%+v", s)
		}
	}
	if n := atPrecision(r.Suspects, .6); n != 0 {
		t.Errorf("%d labels would be corrected", n)
	}
}

// A classifier that underfits has no score near 1 and has not learned noise: its scores spread instead of
// reaching a ceiling.
func TestAudit_UnderfittingIsNoNoise(t *testing.T) {
	for _, slope := range []float64{.1, .2, .5} {
		in := draw(29, 4000, 5, even(0, 5), false)
		sharpen(in, slope/1.5)
		if r := audited(t, in); r.Noise != Unknown {
			t.Errorf("slope %g: %v noise of %.3f", slope, r.Noise, r.Pooled)
		}
	}
}

// With two classes the likelihood does not reveal the direction of noise; labels of the surest rows do.
func TestAudit_TwoClassesOfWhichOneIsNoisy(t *testing.T) {
	in := draw(25, 1500, 2, []float64{.65, .35, 0, 1}, true)
	r := audited(t, in)
	if r.Noise != Directed || math.Abs(r.T[0]-.65) > .1 || r.T[3] < .95 {
		t.Errorf("noise is %v, T %.3f", r.Noise, r.T)
	}
	if j := r.Judgement; j.Posterior.AP < max(j.Self.AP, j.Margin.AP)+.1 {
		t.Errorf("%+v", j)
	}
}

// Scores of 0 and 1, one row, more classes than rows, and labels of one class are no trouble.
func TestAudit_LittleToGoBy(t *testing.T) {
	one := func(rows, classes int, label func(i int) int32) *Input {
		in := &Input{Rows: rows, Classes: classes, Scores: make([]float32, rows*classes)}
		for i := range rows {
			in.Scores[i*classes+i%classes] = 1
			in.Labels = append(in.Labels, label(i))
		}
		return in
	}
	for what, in := range map[string]*Input{
		"one row":                one(1, 2, func(int) int32 { return 1 }),
		"all wrong":              one(50, 3, func(i int) int32 { return int32(i+1) % 3 }),
		"all right":              one(50, 3, func(i int) int32 { return int32(i) % 3 }),
		"one class":              one(50, 3, func(int) int32 { return 1 }),
		"more classes than rows": one(9, 1200, func(i int) int32 { return int32(i) }),
	} {
		o := DefaultOptions()
		for _, o.Plateau = range []bool{false, true} {
			r := expect.Value(Audit(t.Context(), in, o))(t)
			for _, v := range append(slices.Concat(r.T, r.True, r.B), r.A, r.Pooled) {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("%s: a parameter is %g", what, v)
				}
			}
			for i, s := range r.Table.Scores {
				if !(s.Wrong >= 0 && s.Wrong <= 1) {
					t.Fatalf("%s: row %d is wrong with %g", what, i, s.Wrong)
				}
			}
			if what == "all right" && len(r.Suspects) > 0 {
				t.Errorf("%s: %+v", what, r.Suspects)
			}
		}
	}
}

// The pruned rows match the definition, computed pair of classes by pair, each with all of its rows in order.
func TestConfident_PrunesByTheRateOfNoise(t *testing.T) {
	const k = 4
	in := draw(27, 900, k, transition(k, .3), false)
	c := confidentOf(in)
	want := map[int]bool{}
	for z := range k {
		sum, size := 0, 0
		for y := range k {
			sum += c.Joint[z*k+y]
		}
		for _, label := range in.Labels {
			if int(label) == z {
				size++
			}
		}
		for y := range k {
			n := int(math.Round(float64(size) * float64(c.Joint[z*k+y]) / float64(sum)))
			var rows []int
			excess := func(i int) float32 { return in.Scores[i*k+y] - in.Scores[i*k+z] }
			for i, label := range in.Labels {
				if int(label) == z && excess(i) > 0 {
					rows = append(rows, i)
				}
			}
			slices.SortStableFunc(rows, func(i, j int) int { return int(math.Copysign(1, float64(excess(j)-excess(i)))) })
			for _, i := range rows[:min(n, len(rows))] {
				want[i] = true
			}
		}
	}
	if len(c.Pruned) < 100 || len(c.Pruned) != len(want) {
		t.Errorf("%d rows are pruned, want %d", len(c.Pruned), len(want))
	}
	for _, i := range c.Pruned {
		if !want[i] {
			t.Errorf("row %d is pruned", i)
		}
	}
}
