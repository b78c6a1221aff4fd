package claims

import (
	"fmt"
	"math"
	"strings"

	"nmn/eval"
	"nmn/report"
)

// FewestSeeds is the least number of seeds that can confirm or refute anything.
const FewestSeeds = 3

// significance is the probability below which a difference is more than chance. Every comparison of a claim has to be
// below it to confirm the claim; to refute it one has to be below its share, significance divided by the comparisons.
const significance = .05

// Check holds the results against every claim, and gives a verdict for each claim and kind of data that there are
// results of; a claim without any has one verdict, not tested. Validate accepts the results, whose order does not
// matter.
func Check(results []Result) []Verdict {
	f := gather(results)
	var verdicts []Verdict
	for _, c := range all() {
		found := false
		for _, data := range c.data {
			if levels := f.levels(&c, data); len(levels) > 0 {
				verdicts, found = append(verdicts, f.verdict(&c, data, levels)), true
			}
		}
		if !found {
			v := f.verdict(&c, c.data[len(c.data)-1], c.levels) // for the published figures
			v.Data, v.Outcome = "", NotTested
			v.Reason = fmt.Sprintf("there are no results for it on %s", strings.Join(c.data, " or "))
			verdicts = append(verdicts, v)
		}
	}
	return verdicts
}

// verdict makes all comparisons of a claim, and sums them up.
func (f *figures) verdict(c *claim, data string, levels []float64) Verdict {
	v := Verdict{ID: c.id, Claim: c.text, Where: c.where, Beyond: c.beyond, Data: data}
	for _, missing := range levels {
		for i := range c.pairs {
			v.Comparisons = append(v.Comparisons, f.compare(&c.pairs[i], data, missing))
		}
	}
	var open, against []string
	for i := range v.Comparisons {
		d := &v.Comparisons[i]
		d.decide(len(v.Comparisons))
		switch d.Outcome {
		case NotTested:
			open = append(open, d.name()+": "+d.Reason)
		case NotConfirmed:
			against = append(against, d.name()+": "+d.Reason)
		}
	}
	switch {
	case len(against) > 0:
		v.Outcome, v.Reason = NotConfirmed, first(against)
	case len(open) > 0:
		v.Outcome, v.Reason = NotTested, first(open)
	default:
		v.Outcome = Confirmed
	}
	return v
}

// first is the first reason, and how many more there are.
func first(reasons []string) string {
	if n := len(reasons) - 1; n > 0 {
		return fmt.Sprintf("%s; and %d more", reasons[0], n)
	}
	return reasons[0]
}

// decide sets the outcome of a comparison. of is the number of comparisons of the claim.
func (d *Comparison) decide(of int) {
	if d.Reason != "" {
		d.Outcome = NotTested
		return
	}
	better := float64(d.Mean) > 0
	if lessIsBetter(d.Left.Metric) {
		better = float64(d.Mean) < 0
	}
	switch p := float64(d.P); {
	case better && p < significance:
		d.Outcome = Confirmed
	case !better && d.Mean != 0 && p < significance/float64(of):
		d.Outcome = NotConfirmed
		d.Reason = fmt.Sprintf("the difference is the other way, by more than chance (p = %.2g)", p)
	default:
		d.Outcome = NotTested
		d.Reason = fmt.Sprintf("the difference is within the spread of the seeds (p = %.2g%s)", p, d.more())
	}
}

// power returns the published difference, or ours if the paper has none, and how many seeds would show it.
func (d *Comparison) power() (difference eval.Number, published bool, seeds int) {
	difference, published = d.Published, math.Abs(float64(d.Published)) > 0
	if !published {
		difference = d.Mean
	}
	return difference, published, seedsFor(math.Abs(float64(difference)), float64(d.Spread))
}

// more returns how many seeds would show the published difference, or one like ours if the paper has none.
func (d *Comparison) more() string {
	_, published, n := d.power()
	whose := "such a difference"
	if published {
		whose = "the published difference"
	}
	switch {
	case n == 0:
		return ""
	case n <= len(d.Seeds):
		return fmt.Sprintf("; %s would probably have shown", whose)
	case n > MostSeeds:
		return fmt.Sprintf("; more than %d seeds would be needed for %s", MostSeeds, whose)
	}
	return fmt.Sprintf("; about %d seeds would show %s", n, whose)
}

// Outcome is what became of a claim or of one comparison of it.
type Outcome = report.ClaimOutcome

// The outcomes.
const (
	Confirmed    = report.Confirmed
	NotConfirmed = report.NotConfirmed
	NotTested    = report.NotTested
)

// Verdict is the outcome of a claim on one kind of data.
type Verdict struct {
	ID     string `json:"id"`
	Claim  string `json:"claim"`           // the claim in a sentence
	Where  string `json:"where,omitempty"` // where the paper makes it; empty for what goes beyond the paper
	Beyond bool   `json:"-"`               // set if the paper does not claim it
	// Data names the data of the results. It is empty if there are no results for this claim. The comparisons
	// then hold published figures alone.
	Data string `json:"data,omitempty"`
	// Outcome is Confirmed where all comparisons are, NotConfirmed where one of them is the other way beyond chance,
	// and else NotTested. Reason says why in the last two cases.
	Outcome     Outcome      `json:"outcome"`
	Reason      string       `json:"reason,omitempty"`
	Comparisons []Comparison `json:"comparisons,omitempty"`
}

// Comparison is one arm and measure against another. Differences are left minus right; better is more, or less where
// the measure is an error.
type Comparison struct {
	Left, Right Side
	Missing     float64
	Words       string      // All or a part of speech
	Bound       float64     // the upper bound for the left side if the right side has no arm
	Published   eval.Number // the paper's difference, from two figures of one table; undefined if the paper prints none
	// Seeds are the seeds that both sides have, in order. Differences has one difference for each seed.
	Seeds       []uint64
	Differences []float64
	// Mean and Spread (sample standard deviation) are over seeds, and P is the two-sided probability of the
	// paired t test. They are undefined if there are too few seeds.
	Mean, Spread, P eval.Number
	// Units is the paired test over single words, whose differences are means over seeds. It does not decide: its
	// probability is about other words for the same nets.
	Units   Units
	Outcome Outcome
	Reason  string
}

// Side is one side of a comparison.
type Side struct {
	Arm, Metric string
	Published   eval.Number // undefined where the paper prints none
	Mean        eval.Number // ours over the seeds of the comparison
}

// Units is a paired test over words.
type Units struct {
	Count int // 0 without single results
	Ahead int // units on which left is better
	P     eval.Number
}
