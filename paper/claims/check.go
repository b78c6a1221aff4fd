package claims

import (
	"fmt"
	"strings"
)

// fewestSeeds is the least number of seeds that can confirm or refute anything.
const fewestSeeds = 3

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
		d.Reason = fmt.Sprintf("the difference is within the spread of the seeds (p = %.2g)", p)
	}
}
