package audit

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/durable"
	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/internal/setting"
	"nmn/labels"
	"nmn/labels/rates"
)

// photographs draws a small set with scores that are nearly perfect: 108 bags of 20 classes, each class on
// few bags, and 5 % of the labels wrong.
func photographs(seed uint64, bags, classes int) (Input, rates.Input) {
	s := rng.New(seed)
	in := Input{Bags: bags, Classes: classes}
	for range bags {
		for c := range classes {
			y, o := uint8(0), s.Normal(-5, 1)
			if s.Float64() < .02+.009*float64(c) {
				y, o = 1, s.Normal(5, 1)
			}
			z := y
			if s.Float64() < .05 {
				z = 1 - y
			}
			in.Logits, in.Truth, in.Labels = append(in.Logits, float32(o)), append(in.Truth, y), append(in.Labels, z)
		}
	}
	return in, rates.Input{Bags: bags, Classes: classes, Scores: in.Logits, Labels: in.Labels}
}

// audited estimates the rates of a set and audits it.
func audited(t *testing.T, in *Input, scores rates.Input) *rates.Result {
	t.Helper()
	found := expect.Value(rates.Estimate(t.Context(), scores, rates.DefaultOptions()))(t)
	in.FromEstimate(found)
	return found
}

// Classes of 5 to 12 labels have no rates of their own; without them half of what |z - p| finds would be lost.
func TestFromEstimate_KeepsSmallClassesByPooledRates(t *testing.T) {
	for seed := range uint64(3) {
		in, scores := photographs(seed+1, 108, 20)
		audited(t, &in, scores)
		small := 0
		for c := range in.Classes {
			if in.IsPooled(c) {
				small++
			}
		}
		with := expect.Value(Judge(in, nil))(t)
		for c := range in.Classes {
			if in.IsPooled(c) {
				in.Rates.Q01[c], in.Rates.Q10[c] = math.NaN(), math.NaN()
			}
		}
		without := expect.Value(Judge(in, nil))(t)
		if small < 3 || with.Difference.AP < .99 || with.Posterior.AP < .97 || without.Posterior.AP > .85 {
			t.Errorf("%d small classes: AP %.3f with them, %.3f without, %.3f by |z - p|", small, with.Posterior.AP,
				without.Posterior.AP, with.Difference.AP)
		}
	}
}

// The classes with rates of their own keep their suspects, in their order, with their probabilities.
func TestFromEstimate_LargeClassesRankAsWithoutSmallOnes(t *testing.T) {
	in, scores := photographs(2, 108, 20)
	found := audited(t, &in, scores)
	ofLarge := func(in Input) (all []Suspect) {
		r := expect.Value(Run(in, .01))(t)
		for _, s := range r.Suspects {
			if found.Classes[s.Class].Usable() {
				all = append(all, s)
			}
		}
		return all
	}
	with := ofLarge(in)
	in.Rates, in.Pooled = found.Rates(), nil
	if without := ofLarge(in); len(with) < 50 || !slices.Equal(with, without) {
		t.Errorf("%d suspects of large classes beside small ones, %d alone, in another order or of other probability",
			len(with), len(without))
	}
}

// Every form of the result marks what pooled rates have ranked, and no precision is claimed of it.
func TestFromEstimate_MarksPooledRates(t *testing.T) {
	in, scores := photographs(1, 108, 20)
	audited(t, &in, scores)
	result := expect.Value(Run(in, .5))(t)
	r := &Report{Input: in, Result: result}
	own, pooled := 0, 0
	for at, s := range r.Suspects {
		switch f := in.Finding(at, s); {
		case in.IsPooled(int(s.Class)) && f.Rates == PooledRates:
			pooled++
		case !in.IsPooled(int(s.Class)) && f.Rates == OwnRates:
			own++
		default:
			t.Errorf("%+v is of a class with pooled rates: %v", f, in.IsPooled(int(s.Class)))
		}
	}
	for c, s := range r.Summary(0).Classes {
		if s.Pooled != in.IsPooled(c) {
			t.Errorf("class %d: pooled %v", c, s.Pooled)
		}
	}
	if own == 0 || pooled == 0 {
		t.Fatalf("%d suspects by rates of their own, %d by pooled ones", own, pooled)
	}
	for how, want := range map[labels.Apply]int{labels.ApplyForce: own, labels.ApplyPooled: own + pooled} {
		if err := r.Correct(labels.Correction{Apply: how, Precision: .01, Labels: filepath.Join(t.TempDir(),
			"y.csv")}); err != nil {
			t.Fatal(err)
		}
		if r.Outcome.Automatic != want || r.Outcome.Reason != "" {
			t.Errorf("%s: %d labels are corrected by rule, want %d; %s", how, r.Outcome.Automatic, want, r.Outcome.Reason)
		}
	}
	if err := r.Correct(labels.Correction{Apply: labels.ApplyForce, Precision: 1, Labels: filepath.Join(t.TempDir(),
		"y.csv")}); err != nil ||
		r.Outcome.Automatic != 0 || !strings.Contains(r.Outcome.Reason, "the expected precision must be at least 100 %") {
		t.Errorf("%v, %+v", err, r.Outcome)
	}
	var refused *setting.Error
	path := filepath.Join(t.TempDir(), "y.csv")
	if err := r.Correct(labels.Correction{Apply: labels.ApplyCareful, Precision: .01, Labels: path}); !errors.As(err,
		&refused) ||
		durable.Exists(path) {
		t.Errorf("few labels and no decisions: %v", err)
	}
}

func TestEnoughToApply_LabelsOrDecisions(t *testing.T) {
	for given, want := range map[[2]int]bool{{4999, 29}: false, {5000, 0}: true, {0, 30}: true, {0, 0}: false} {
		if err := EnoughToApply(given[0], given[1], false); (err == nil) != want {
			t.Errorf("%d labels, %d decisions: %v", given[0], given[1], err)
		}
		if err := EnoughToApply(given[0], given[1], true); (err == nil) != (given[1] >= 30) {
			t.Errorf("%d labels, %d decisions, too sure: %v", given[0], given[1], err)
		}
	}
}
