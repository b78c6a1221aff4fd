package claims

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// made are results in which the left side of every comparison of a claim is ahead by so much, with a spread over seeds.
func made(c claim, data string, seeds int, ahead, spread float64) []Result {
	var all []Result
	at := map[Result]float64{}
	figure := func(s side, missing float64, words string, seed uint64, value float64) {
		r := Result{Part: "made", Data: data, Arm: s.arm, Missing: missing, Seed: seed, Words: words, Metric: s.metric}
		if _, ok := at[r]; !ok {
			at[r] = value
			r.Value = value
			all = append(all, r)
		}
	}
	for _, missing := range c.levels {
		for seed := range uint64(seeds) {
			for _, p := range c.pairs {
				level := 30 - 10*missing + 3*math.Sin(float64(seed)) // of the seed, which pairing takes away
				d := ahead + spread*[]float64{-1, 0, 1, .5}[seed%4]
				if lessIsBetter(p.left.metric) {
					d = -d
				}
				if p.bounded() {
					figure(p.left, missing, p.words, seed+1, p.bound*(1+d))
					continue
				}
				figure(p.right, missing, p.words, seed+1, level)
				figure(p.left, missing, p.words, seed+1, level+d)
			}
		}
	}
	return all
}

func verdictOf(t *testing.T, results []Result, id, data string) Verdict {
	t.Helper()
	for _, v := range Check(results) {
		if v.ID == id && v.Data == data {
			return v
		}
	}
	t.Fatalf("no verdict of %s on %s", id, data)
	return Verdict{}
}

// decided fails unless a claim has an outcome, for a reason.
func decided(t *testing.T, results []Result, id, data string, want Outcome, reason string) (v Verdict) {
	t.Helper()
	if v = verdictOf(t, results, id, data); v.Outcome != want || !strings.Contains(v.Reason, reason) {
		t.Errorf("%s (%s), want %s with %q", v.Outcome, v.Reason, want, reason)
	}
	return v
}

func TestCheck_MadeResultsConfirmRefuteAndLeaveOpenEveryClaim(t *testing.T) {
	t.Parallel()
	for _, c := range all() {
		for _, data := range c.data {
			for _, test := range []struct {
				name          string
				seeds         int
				ahead, spread float64
				want          Outcome
				reason        string
			}{
				{"ahead", 3, .8, .02, Confirmed, ""},
				{"behind", 3, -.8, .02, NotConfirmed, "other way"},
				{"within the spread", 3, .1, .5, NotTested, "within the spread"},
				{"one seed", 1, .9, 0, NotTested, "too few seeds: 1"},
				{"one seed, far behind", 1, -90, 0, NotTested, "too few seeds: 1"},
				{"two seeds", 2, .9, .01, NotTested, "too few seeds: 2"},
			} {
				t.Run(c.id+"/"+data+"/"+test.name, func(t *testing.T) {
					results := made(c, data, test.seeds, test.ahead, test.spread)
					v := decided(t, results, c.id, data, test.want, test.reason)
					if want := len(c.levels) * len(c.pairs); len(v.Comparisons) != want {
						t.Errorf("%d comparisons, want %d", len(v.Comparisons), want)
					}
				})
			}
		}
	}
}

func TestCheck_OneComparisonTheOtherWayRefutesAndALevelThatIsNotRunLeavesOpen(t *testing.T) {
	c := all()[0]
	results := made(c, Scenes, 3, .8, .02)
	for i, r := range results {
		if r.Missing == .6 && r.Arm == fd {
			results[i].Value -= 2
		}
	}
	decided(t, results, c.id, Scenes, NotConfirmed, "60 %")
	results = slices.DeleteFunc(results, func(r Result) bool { return r.Missing == .6 })
	decided(t, results, c.id, Scenes, NotTested, "60 %: there are no results")
}

func TestCheck_NamesTheSeedThatIsMissing(t *testing.T) {
	c := all()[0]
	results := slices.DeleteFunc(made(c, COCO, 5, .8, .02), func(r Result) bool {
		return r.Arm == fd && r.Seed == 4 && r.Missing == .4
	})
	decided(t, results, c.id, COCO, NotTested, "40 %: seed 4 of NMN-FD is missing")
}

func TestValidate_RefusesWhatIsNoFigureAndWhatIsGivenTwice(t *testing.T) {
	c := all()[0]
	for _, value := range []float64{math.NaN(), math.Inf(1), 99} {
		results := append(made(c, Scenes, 4, .8, .02), Result{Data: Scenes, Arm: fd, Seed: 2, Words: All, Metric: AP,
			Value: value})
		if err := Validate(results); err == nil || !strings.Contains(err.Error(), "seed 2") {
			t.Errorf("%v: error %v, want one that names seed 2", value, err)
		}
	}
	twice := made(c, Scenes, 3, .8, .02)
	twice = append(twice, twice...)
	for i := range twice[:len(twice)/2] {
		twice[i].Part = "another"
	}
	if err := Validate(twice); err != nil {
		t.Errorf("the same figures of two parts: %v", err)
	}
	if v := decided(t, twice, c.id, Scenes, Confirmed, ""); len(v.Comparisons[0].Seeds) != 3 {
		t.Errorf("seeds of two parts: %d", v.Comparisons[0].Seeds)
	}
}

func TestValidate_NamesLevelsAndDataThatAreUnknown(t *testing.T) {
	for _, r := range []Result{
		{Data: "imagenet", Arm: fd, Words: All, Metric: AP},
		{Data: COCO, Arm: fd, Missing: 40, Words: All, Metric: AP},
		{Data: COCO, Arm: fd, Missing: math.NaN(), Words: All, Metric: AP},
	} {
		if Validate([]Result{r}) == nil {
			t.Errorf("%v is taken", r)
		}
	}
	if v := Check([]Result{{Data: "imagenet", Arm: fd, Words: All, Metric: AP}}); v[0].Data != "" {
		t.Error("unknown data are taken for known ones")
	}
}

func TestCheck_FiguresThatAreTheSameForAllSeedsShowNothing(t *testing.T) {
	c := all()[0]
	results := made(c, Scenes, 3, .8, 0)
	for i, r := range results {
		results[i].Value = map[string]float64{fd: 31, baseline: 30}[r.Arm]
	}
	decided(t, results, c.id, Scenes, NotTested, "as if they came from one run")
}

func TestCheck_NothingDependsOnTheOrderOfResults(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(1, 2))
	for round := range 15 {
		var results []Result
		for _, c := range all() {
			for _, data := range c.data {
				results = append(results, made(c, data, 1+draw.IntN(4), draw.NormFloat64(), .3*draw.Float64())...)
			}
		}
		for range 20 {
			results = append(results, Result{Data: Scenes, Arm: []string{fd, baseline}[draw.IntN(2)],
				Seed: uint64(1 + draw.IntN(2)), Words: Word(fmt.Sprint(draw.IntN(15))), Metric: AP, Value: draw.Float64()})
		}
		results = slices.DeleteFunc(distinct(results), func(Result) bool { return draw.IntN(10) == 0 })
		want := fmt.Sprintf("%+v", Check(results))
		draw.Shuffle(len(results), func(i, j int) { results[i], results[j] = results[j], results[i] })
		if got := fmt.Sprintf("%+v", Check(results)); got != want {
			t.Fatalf("round %d: other verdicts in another order", round)
		}
	}
}

func TestCheck_WithoutResultsEveryClaimIsNotTestedOnce(t *testing.T) {
	verdicts := Check(nil)
	if len(verdicts) != len(all()) {
		t.Fatalf("%d verdicts of %d claims", len(verdicts), len(all()))
	}
	for _, v := range verdicts {
		if v.Outcome != NotTested || !strings.Contains(v.Reason, "no results") || v.Data != "" {
			t.Errorf("%s: %s (%s)", v.ID, v.Outcome, v.Reason)
		}
	}
}

func TestCheck_WordsArePairedBesideAndDoNotDecide(t *testing.T) {
	c := all()[0]
	results := made(c, Scenes, 3, .1, .5)
	for word := range 40 {
		for seed := range uint64(3) {
			r := Result{Data: Scenes, Arm: baseline, Seed: seed + 1, Words: Word(fmt.Sprint(word)), Metric: AP,
				Value: float64(word) + 10*float64(seed)}
			results = append(results, r)
			r.Arm, r.Value = fd, r.Value+1+float64(word)/100
			results = append(results, r)
		}
	}
	v := decided(t, results, c.id, Scenes, NotTested, "") // words of the same nets do not decide
	if u := v.Comparisons[0].Units; u.Count != 40 || u.Ahead != 40 || !(u.P < 1e-6) {
		t.Errorf("%+v, want 40 of 40 words ahead", u)
	}
}
