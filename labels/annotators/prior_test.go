package annotators

import (
	"math"
	"testing"

	"nmn/internal/expect"
)

// The more answers an annotator has, the less each counts, because all describe one annotator.
func TestBetaPrior_WeightsAnnotators(t *testing.T) {
	// A strength of 20 labels gives 20/30 of 1 in 10, 20/120 of 30 in 100, and half a label of either kind.
	want := (.5 + 2./3*1 + 1./6*30) / (1 + 2./3*10 + 1./6*100)
	mean, strength := betaPrior([]trials{{1, 10}, {30, 100}}, 20)
	if math.Abs(mean-want) > 1e-12 || strength != 20 {
		t.Errorf("mean %.9f with strength %g, want %.9f with 20", mean, strength, want)
	}
	for _, c := range []struct {
		counts []trials
		mean   float64
	}{{nil, .5}, {[]trials{{0, 1e9}, {0, 1e9}}, 1.19e-2}, {[]trials{{1e9, 1e9}}, .976}} {
		if mean, _ := betaPrior(c.counts, 20); math.Abs(mean-c.mean) > 1e-3 {
			t.Errorf("%v: mean %.6f, want %.6f", c.counts, mean, c.mean)
		}
	}
	// If many annotators make no mistake, the rate is the smallest allowed one.
	none := make([]trials, 1000)
	for i := range none {
		none[i] = trials{0, 1e9}
	}
	if mean, _ := betaPrior(none, 1e5); mean != leastRate {
		t.Errorf("mean %g of annotators who are never wrong", mean)
	}
}

// likelihoodOfStrength is the log likelihood of counts by a product of chances, label by label, and the log density of
// the strength: normal in its logarithm, around 20 labels with a standard deviation of 2.
func likelihoodOfStrength(counts []trials, mean, strength float64) float64 {
	d := math.Log(strength/20) / 2
	sum := -d * d / 2
	for _, c := range counts {
		for i := 0.; i < c.all; i++ {
			if i < c.wrong {
				sum += math.Log((strength*mean + i) / (strength + i))
			} else {
				sum += math.Log((strength*(1-mean) + i - c.wrong) / (strength + i))
			}
		}
	}
	return sum
}

func TestBestStrength_IsTheMostLikely(t *testing.T) {
	for name, counts := range map[string][]trials{
		"alike":     {{10, 100}, {11, 100}, {9, 100}, {10, 100}, {3, 30}},
		"different": {{1, 100}, {60, 100}, {20, 50}, {2, 80}},
		"few":       {{1, 3}, {0, 2}},
		"none":      nil,
	} {
		best, most := 0., math.Inf(-1)
		for log := 0.; log <= math.Log(1e4); log += 1e-3 {
			if v := likelihoodOfStrength(counts, .2, math.Exp(log)); v > most {
				best, most = math.Exp(log), v
			}
		}
		if got := bestStrength(counts, .2); math.Abs(math.Log(got/best)) > 2e-3 {
			t.Errorf("%s: strength %.4g, most likely is %.4g", name, got, best)
		}
		mean, strength := betaPrior(counts, 0)
		w, n := .5, 1.
		for _, c := range counts {
			w, n = w+c.wrong*strength/(c.all+strength), n+c.all*strength/(c.all+strength)
		}
		if math.Abs(mean-w/n) > 1e-4 || math.Abs(math.Log(strength/bestStrength(counts, mean))) > 1e-6 {
			t.Errorf("%s: mean %.5f, by its strength of %.4g it is %.5f", name, mean, strength, w/n)
		}
	}
}

// If the truth is certain, the information on each annotator's rates equals the counts.
func TestEvident_IsWhatCanBeCounted(t *testing.T) {
	c := crowd{bags: 200, pairs: some(12, pair{.05, .01}, pair{.3, .1}), prior: frequencies(3, .2, .4), each: 12, seed: 5}
	in, truth := c.simulated()
	e := exactly(t, &in)
	e.free[0] = false // it has the pooled rates and carries no information on how much annotators differ
	missed, invented := e.evident()
	if len(missed) != 11 || len(invented) != 11 {
		t.Fatalf("answers of %d and %d annotators, want 11", len(missed), len(invented))
	}
	e.pooled = true
	missedAtFirst, inventedAtFirst := e.evident()
	for j := range 11 {
		var wanted [2]trials
		for _, row := range in.Rows {
			if int(row.Annotator) != j+1 {
				continue
			}
			gave := [3]bool{}
			for _, k := range row.Given {
				gave[k] = true
			}
			for k := range 3 {
				kind, wrong := 1, gave[k]
				if truth[3*int(row.Bag)+k] {
					kind, wrong = 0, !gave[k]
				}
				wanted[kind].all++
				if wrong {
					wanted[kind].wrong++
				}
			}
		}
		for i, got := range [2][2]trials{{missed[j], missedAtFirst[j]}, {invented[j], inventedAtFirst[j]}} {
			for phase, got := range got {
				if math.Abs(got.all-wanted[i].all) > 2 || math.Abs(got.wrong-wanted[i].wrong) > 1 {
					t.Errorf("annotator %d, kind %d, phase %d: %.2f, want %.0f", j+1, i, phase, got, wanted[i])
				}
			}
		}
	}
}

// Hidden truth carries less information on an annotator than known truth: never more than its number of
// answers, however few.
func TestEvident_IsNeverMoreThanWhatWasAnswered(t *testing.T) {
	in := modelled(t)["direct"]
	in.Rows = append(in.Rows, Row{Bag: 0, Annotator: 6, Given: []int32{}, Asked: []int32{1}})
	in.Annotators++
	e := exactly(t, in)
	missed, invented := e.evident()
	few := 0
	for j, of := range []int{0, 1, 2, 3, 4, 6} { // 5 shares no bag
		c := e.total.expected(of, e.asked[of])
		for i, got := range []trials{missed[j], invented[j]} {
			all := []float64{c.missed + c.found, c.absent + c.invented}[i]
			if !(got.all >= 0 && got.all <= all+1e-9 && got.wrong >= 0 && got.wrong <= got.all) {
				t.Errorf("annotator %d, kind %d: %.4f, of %.4f answers", of, i, got, all)
			}
			if all < .5 {
				few++
			}
		}
	}
	if few == 0 {
		t.Error("nobody has less than an answer")
	}
}

// Given strengths are kept, and draw each rate as that number of labels does.
func TestEstimate_KeepsAGivenStrength(t *testing.T) {
	c := crowd{bags: 200, pairs: some(5, pair{.1, .02}, pair{.5, .2}), prior: frequencies(3, .2, .4), each: 3, seed: 5}
	in, _ := c.simulated()
	o := exact()
	o.Strength01, o.Strength10 = 300, 5
	r := expect.Value(Estimate(t.Context(), in, o))(t)
	if r.Strength01 != 300 || r.Strength10 != 5 {
		t.Errorf("strengths %g and %g", r.Strength01, r.Strength10)
	}
	for j, a := range r.Annotators {
		positive := a.Given - a.Incorrect + a.Missing
		q01 := (a.Missing + 300*r.PooledQ01) / (positive + 300)
		q10 := (a.Incorrect + 5*r.PooledQ10) / (a.Asked - positive + 5)
		if math.Abs(a.Q01-q01) > 1e-5 || math.Abs(a.Q10-q10) > 1e-5 {
			t.Errorf("annotator %d: rates %.5f and %.5f, want %.5f and %.5f", j, a.Q01, a.Q10, q01, q10)
		}
	}
	if own := estimated(t, in); own.Strength01 == 300 || own.Strength10 == 5 {
		t.Errorf("strengths %g and %g where none is given", own.Strength01, own.Strength10)
	}
}
