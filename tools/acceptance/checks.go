package main

import (
	"fmt"
	"math"
	"slices"
)

// Epochs of stage 2 at which arms are compared.
const (
	early = 3
	late  = 12
)

// check is a figure of one seed. Its mean over seeds is compared with a band.
type check struct {
	name     string
	decimals int
	of       func(g *group, level int) float64 // NaN if the files lack it
	bands    [4]*band                          // of each level; nil for none
}

// band is the range for the mean. An implementation is judged by the bands with must. The others are the
// tolerance of a mean of four seeds around the observed one.
type band struct {
	low, high float64
	text      string
	must      bool
}

func around(mean, tolerance float64) *band {
	return &band{low: mean - tolerance, high: mean + tolerance, text: fmt.Sprintf("%g ± %g", mean, tolerance)}
}

func atMost(high float64) *band {
	return &band{low: math.Inf(-1), high: high, text: fmt.Sprintf("≤ %g", high)}
}

func atLeast(low float64) *band {
	return &band{low: low, high: math.Inf(1), text: fmt.Sprintf("≥ %g", low)}
}

func must(b *band) *band {
	b.must, b.text = true, "**"+b.text+"**"
	return b
}

// checks are in the order of the table. Measures are in percent, rates are fractions.
var checks = []check{
	{name: "mean error of q01", decimals: 3, of: func(g *group, _ int) float64 {
		return known(g.arms["soft-labels"].last.Transition.Q01Error.All)
	},
		bands: [4]*band{must(atMost(.10)), must(atMost(.13)), atMost(.03), must(atMost(.03))}},
	{name: "mean error of q10", decimals: 3, of: func(g *group, _ int) float64 {
		return known(g.arms["soft-labels"].last.Transition.Q10Error.All)
	},
		bands: [4]*band{must(atMost(.025)), atMost(.01), must(atMost(.035)), atMost(.01)}},
	{name: "stage 1: AP", decimals: 1, of: func(g *group, _ int) float64 { return ap(g.arms["stage1"].last) },
		bands: [4]*band{around(78.1, 2.5), around(80.7, 2), around(79.7, 2), around(83.0, 1.2)}},
	{name: "stage 1: Brier", decimals: 2, of: func(g *group, _ int) float64 { return brier(g.arms["stage1"].last) },
		bands: [4]*band{around(8.9, .7), around(8.6, 1), around(10.5, 1), around(6.2, .3)}},
	{name: "baseline +12: AP", decimals: 1, of: at("baseline", late, ap), bands: [4]*band{around(70.0, 4), around(78.3, 2),
		around(75.1, 2),
		around(82.6, 1)}},
	{name: "paper FI +12: AP", decimals: 1, of: at("nmn-fi", late, ap), bands: [4]*band{around(70.8, 4), around(78.4, 2),
		around(75.4, 2),
		around(82.8, 1)}},
	{name: "paper FI +12: OF1", decimals: 1, of: at("nmn-fi", late, of1), bands: [4]*band{around(61, 5), around(57, 5),
		around(67, 3),
		around(75.8, 1)}},
	{name: "paper FI +12: its mean rate, q01 or q10", decimals: 3, of: plainRate, bands: [4]*band{atMost(.05), atMost(.05),
		atMost(.05), nil}},
	{name: "held rates +3: AP", decimals: 1, of: at("held-rates", early, ap),
		bands: [4]*band{around(79.5, 1.5), around(81.3, 1), around(80.8, 1), around(83.2, .8)}},
	{name: "held rates +3: OF1", decimals: 1, of: at("held-rates", early, of1),
		bands: [4]*band{around(69.4, 4), around(68.9, 5), around(73.6, 1.5), around(75.3, 1)}},
	{name: "held rates +3: Brier", decimals: 2, of: at("held-rates", early, brier),
		bands: [4]*band{around(7.1, .4), around(7.0, .6), around(6.9, .3), around(6.2, .2)}},
	{name: "soft labels +12: AP", decimals: 1, of: at("soft-labels", late, ap),
		bands: [4]*band{around(79.4, 1.5), around(80.9, 1), around(80.7, 1), around(82.5, .8)}},
	{name: "soft labels +12: OF1", decimals: 1, of: at("soft-labels", late, of1),
		bands: [4]*band{around(70.7, 3.5), around(70.8, 4), around(74.2, 1.5), around(75.9, .8)}},
	{name: "soft labels +12: Brier", decimals: 2, of: at("soft-labels", late, brier),
		bands: [4]*band{around(7.0, .35), around(6.8, .5), around(6.8, .25), around(6.4, .2)}},
	{name: "soft labels +12: ECE", decimals: 1, of: at("soft-labels", late, ece),
		bands: [4]*band{atMost(2.5), atMost(4.5), atMost(3.5), atMost(5)}},
	{name: "soft labels - FI, both +12: OF1", decimals: 1, of: ahead("soft-labels", late, of1),
		bands: [4]*band{must(atLeast(5)), must(atLeast(8)), must(atLeast(4)), atLeast(-1)}},
	{name: "soft labels - FI, both +12: Brier", decimals: 2, of: ahead("soft-labels", late, brier),
		bands: [4]*band{must(atMost(-1)), must(atMost(-1.2)), must(atMost(-2.5)), nil}},
	{name: "held rates - FI, both +3: Brier", decimals: 2, of: ahead("held-rates", early, brier),
		bands: [4]*band{must(atMost(-.4)), must(atMost(-.8)), must(atMost(-2)), nil}},
	{name: "audit AP: out-of-fold abs(z - p)", decimals: 1, of: byDifference, bands: [4]*band{}},
	{name: "audit AP: posterior of soft labels", decimals: 1, of: byPosterior, bands: [4]*band{}},
	{name: "audit AP: gain", decimals: 1, of: func(g *group, level int) float64 {
		return byPosterior(g, level) - byDifference(g, level)
	},
		bands: [4]*band{must(atLeast(4)), must(atLeast(30)), must(atLeast(9)), nil}},
}

func ap(f figures) float64    { return 100 * known(f.Truth.AP.All) }
func of1(f figures) float64   { return 100 * known(f.Truth.AtThreshold.All.OF1) }
func brier(f figures) float64 { return 100 * known(f.Truth.Brier.All) }
func ece(f figures) float64   { return 100 * known(f.Truth.ECE.All) }

// at is a measure of an arm after an epoch.
func at(arm string, epoch int, measure func(figures) float64) func(*group, int) float64 {
	return func(g *group, _ int) float64 { return measure(g.arms[arm].epochs[epoch]) }
}

// ahead is how much more an arm has than the paper's plain form of the same seed, after the same epoch.
func ahead(arm string, epoch int, measure func(figures) float64) func(*group, int) float64 {
	return func(g *group, _ int) float64 {
		return measure(g.arms[arm].epochs[epoch]) - measure(g.arms["nmn-fi"].epochs[epoch])
	}
}

// plainRate is the mean of the rate that matters at the level, as the paper's plain form has learned it.
func plainRate(g *group, level int) float64 {
	learned := g.arms["nmn-fi"].epochs[late].Transition
	if level == onlyIncorrect {
		return known(learned.Q10.All)
	}
	return known(learned.Q01.All)
}

func byDifference(g *group, _ int) float64 { return 100 * known(g.audit.oof.Truth.Difference.AP) }
func byPosterior(g *group, _ int) float64  { return 100 * known(g.audit.noise.Truth.Posterior.AP) }

// line is the row of the table: mean, least and largest over the seeds, and whether the mean is in the
// band.
func (c *check) line(groups []*group, level int, b *band) (text string, inside bool, err error) {
	values := make([]float64, len(groups))
	mean := 0.0
	for i, g := range groups {
		values[i] = c.of(g, level)
		mean += values[i] / float64(len(groups))
		if math.IsNaN(mean) {
			return "", false, fmt.Errorf("%s: the files of %s lack it", c.name, g.dir)
		}
	}
	expected, reached := "", ""
	if b != nil {
		expected, reached = b.text, "no"
		if b.low <= mean && mean <= b.high {
			reached, inside = "yes", true
		} else if b.must {
			reached = "**no**"
		}
	}
	return fmt.Sprintf("| %s | %.*f [%.*f, %.*f] | %s | %s |\n", c.name, c.decimals, mean, c.decimals,
		slices.Min(values), c.decimals, slices.Max(values), expected, reached), inside, nil
}
