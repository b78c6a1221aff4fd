package claims

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"nmn/eval"
)

// Of a claim with many comparisons each may be the other way by chance: the more there are, the less likely it has to
// be before the claim counts as refuted. One that is ahead needs no such correction, for all have to be.
func TestDecide_IsHarderToRefuteWithMoreComparisons(t *testing.T) {
	for _, c := range []struct {
		mean, p float64
		of      int
		metric  string
		want    Outcome
	}{
		{.5, significance / 2, 100, AP, Confirmed},
		{-.5, significance / 2, 1, AP, NotConfirmed},
		{-.5, significance / 2, 5, AP, NotTested},
		{-.5, significance / 6, 5, AP, NotConfirmed},
		{-.5, significance * 3, 5, AP, NotTested},
		{.5, significance * 3, 1, AP, NotTested},
		{-.5, significance / 2, 5, Brier, Confirmed},
		{.5, significance / 2, 5, Brier, NotTested},
		{.5, significance / 6, 5, Brier, NotConfirmed},
		{0, 0, 1, AP, NotTested},
	} {
		d := Comparison{Left: Side{Arm: fd, Metric: c.metric}, Right: Side{Arm: baseline, Metric: c.metric},
			Mean: eval.Number(c.mean), P: eval.Number(c.p)}
		if d.decide(c.of); d.Outcome != c.want || (d.Reason == "") != (c.want == Confirmed) {
			t.Errorf("mean %g of %s, p %g, one of %d: %s (%s), want %s", c.mean, c.metric, c.p, c.of, d.Outcome, d.Reason,
				c.want)
		}
	}
}

// A unit counts with its mean over the seeds that both sides have of it, and in the measure's own direction.
func TestCompareUnits_TakesMeansOverTheSeedsOfBothSides(t *testing.T) {
	for metric, ahead := range map[string]int{AP: 12, NLL: 1} {
		left, right := cell{Scenes, side{fd, metric}, 0, All}, cell{Scenes, side{baseline, metric}, 0, All}
		f := figures{units: map[cell]map[string]map[uint64]float64{left: {}, right: {}}}
		var differences []float64
		for i := range 14 {
			name, d := Word(fmt.Sprint(i)), float64(i+1)
			switch i {
			case 12:
				d = 0 // neither is ahead
			case 13:
				d = -3
			}
			f.units[left][name] = map[uint64]float64{1: 10 + 2*d, 2: 20, 3: 1e6} // of seed 3 right has none
			f.units[right][name] = map[uint64]float64{1: 10, 2: 20, 4: -1e6}
			differences = append(differences, d)
		}
		f.units[left][Word("alone")] = map[uint64]float64{1: 1}
		u := f.compareUnits(left, right)
		if u.Count != 14 || u.Ahead != ahead || u.P != signedRank(differences) || !u.P.Defined() {
			t.Errorf("%s: %+v, want %d of 14 ahead, p %v", metric, u, ahead, signedRank(differences))
		}
		left.words, right.words = "NN", "NN"
		if u := f.compareUnits(left, right); u.Count != 0 || u.P.Defined() {
			t.Errorf("%s: of one part of speech there are %+v", metric, u)
		}
	}
}

// The signed-rank test holds from ten differences on, and is about which sign has the ranks.
func TestSignedRank_FromTenDifferencesOnAndEitherWay(t *testing.T) {
	d := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, -10}
	p := signedRank(d)
	if !p.Defined() {
		t.Error("ten differences have no probability")
	}
	for i := range d {
		d[i] = -d[i]
	}
	if other := signedRank(d); math.Abs(float64(other-p)) > 1e-12 {
		t.Errorf("the other way %v, want %v", other, p)
	}
}

// What is refused is named in one order, whatever the order in which it came: data, arm, level, seed, words, measure.
func TestValidate_NamesTheFirstFault(t *testing.T) {
	base := Result{Data: COCO, Arm: "a", Missing: .2, Seed: 2, Words: "JJ", Metric: AP, Value: math.NaN()}
	later := func(change func(*Result)) Result {
		r := base
		change(&r)
		return r
	}
	for name, second := range map[string]Result{
		"data":    later(func(r *Result) { r.Data, r.Arm = Scenes, "A" }),
		"arm":     later(func(r *Result) { r.Arm, r.Missing = "b", .1 }),
		"level":   later(func(r *Result) { r.Missing, r.Seed = .4, 1 }),
		"seed":    later(func(r *Result) { r.Seed, r.Words = 3, "AA" }),
		"words":   later(func(r *Result) { r.Words, r.Metric = "NN", "AA" }),
		"measure": later(func(r *Result) { r.Metric = "Brier" }),
	} {
		for _, both := range [][]Result{{base, second}, {second, base}} {
			if err := Validate(both); err == nil || !strings.Contains(err.Error(), base.String()) {
				t.Errorf("%s: %v, want %v named", name, err, base)
			}
		}
	}
	if !(Result{Words: Word("cat")}).OfWord() || (Result{Words: "NN"}).OfWord() ||
		(Result{Words: "cat" + wordPrefix}).OfWord() {
		t.Error("single words are known by how they begin")
	}
}

// The tables print levels and seeds.
func TestTables_TellSeedsBoundsAndPublishedFigures(t *testing.T) {
	c := Comparison{Left: Side{Metric: GradientGap, Mean: 2e-3}, Bound: .01, Seeds: []uint64{1, 2, 3}, P: .02}
	d := Comparison{Left: Side{Metric: GradientGap, Mean: 5e-3}, Bound: .01, Seeds: []uint64{1, 2, 3, 4}, P: .01,
		Outcome: Confirmed}
	none := Comparison{Left: Side{Metric: GradientGap, Mean: eval.Undefined()}, Bound: .01, P: eval.Undefined()}
	v := Verdict{Comparisons: []Comparison{none, c, d, none}}
	if got, want := v.test(), "1 of 4 comparisons confirmed; seeds: 3 to 4; p up to 0.02"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := v.ours(), GradientGap+" 0.005 (bound 0.01)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	v = Verdict{Comparisons: []Comparison{none}}
	if v.test() != dash || v.ours() != dash {
		t.Errorf("without figures %q and %q", v.test(), v.ours())
	}
	if n := len(Tables(nil)); n != 0 {
		t.Errorf("%d tables of no verdicts", n)
	}
	for _, metric := range []string{OF1, Brier, APTruth} {
		if p := published(false, side{fd, metric}, .2, All); p.Defined() {
			t.Errorf("the paper prints %v of %s", p, metric)
		}
	}
}

// A rule stands above the first comparison of a verdict, and published figures alone have no row of their own.
func TestTables_RuleAboveEachVerdict(t *testing.T) {
	verdicts := []Verdict{{ID: "a", Data: Scenes, Comparisons: make([]Comparison, 2)}, {ID: "a", Data: COCO,
		Comparisons: make([]Comparison, 2)}, {ID: "b", Comparisons: make([]Comparison, 2)}, {ID: "c", Data: COCO,
		Comparisons: make([]Comparison, 1)}}
	var rules []bool
	for _, row := range comparisons(verdicts).Rows {
		rules = append(rules, row.Rule)
	}
	if want := []bool{true, false, true, false, true}; !slices.Equal(rules, want) {
		t.Errorf("rules %v, want %v", rules, want)
	}
}
