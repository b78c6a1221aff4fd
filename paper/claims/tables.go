package claims

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nmn/eval"
	"nmn/report"
)

// Tables are what verdicts look like in reports: the claims of the paper, those beyond it, and every comparison with
// its figures. They are stacked on narrow screens, and outcomes are words.
func Tables(verdicts []Verdict) []*report.Table {
	var tables []*report.Table
	for _, t := range []*report.Table{
		summary("What the paper claims", verdicts, false), summary("What goes beyond the paper", verdicts, true),
		comparisons(verdicts),
	} {
		if len(t.Rows) > 0 {
			tables = append(tables, t)
		}
	}
	return tables
}

func words(all ...string) []report.Cell {
	var cells []report.Cell
	for _, s := range all {
		cells = append(cells, report.TextCell(s))
	}
	return cells
}

// summary has a row for each verdict.
func summary(heading string, verdicts []Verdict, beyond bool) *report.Table {
	t := &report.Table{Title: heading, Stacked: true,
		Columns: report.TextColumns("claim", "data", "published", "ours", "spread", "test", "verdict")}
	if beyond {
		t.Columns = slices.Delete(t.Columns, 2, 3)
	}
	for i := range verdicts {
		v := &verdicts[i]
		if v.Beyond != beyond {
			continue
		}
		said := v.Claim
		if v.Where != "" {
			said += " (" + v.Where + ")"
		}
		row := report.Row{Cells: words(said, cmp.Or(v.Data, dash), v.published(), v.ours(), v.spread(), v.test(),
			because(v.Outcome, v.Reason))}
		if beyond {
			row.Cells = slices.Delete(row.Cells, 2, 3)
		}
		t.Rows = append(t.Rows, row)
	}
	if !beyond {
		t.Notes = []string{fmt.Sprintf("Figures are differences, the first arm minus the second, in the measure of the "+
			"claim. For several comparisons they are the smallest and the largest mean over seeds, and the largest standard "+
			"deviation. A claim is confirmed if every comparison is confirmed by Student's t test of the differences of "+
			"equal seeds (two-sided, p below %g, at least %d seeds). It is not confirmed if one comparison is the other way "+
			"with p below %g divided by their number. Every other claim is not tested well enough, and the verdict has the "+
			"reason.", significance, FewestSeeds, significance),
			"Published figures come from the paper, which prints no spread. On other data than the paper's, they are no " +
				"targets for ours."}
	}
	return t
}

const dash = "–"

// because is the outcome in words, with its reason.
func because(o Outcome, reason string) string {
	if reason == "" {
		return string(o)
	}
	return string(o) + ": " + reason
}

// between is the range of some figures of the comparisons.
func (v *Verdict) between(of func(*Comparison) eval.Number) string {
	var all []float64
	for i := range v.Comparisons {
		if n := of(&v.Comparisons[i]); n.Defined() {
			all = append(all, float64(n))
		}
	}
	if len(all) == 0 {
		return dash
	}
	least, greatest := signed(slices.Min(all)), signed(slices.Max(all))
	if least == greatest {
		return least
	}
	return least + " to " + greatest
}

func (v *Verdict) published() string {
	return v.between(func(d *Comparison) eval.Number { return d.Published })
}

func (v *Verdict) ours() string {
	if slices.ContainsFunc(v.Comparisons, func(d Comparison) bool { return d.Right.Arm == "" }) {
		return v.bounds()
	}
	return v.between(func(d *Comparison) eval.Number { return d.Mean })
}

// bounds are figures that are to be below a bound: the greatest of each measure.
func (v *Verdict) bounds() string {
	greatest := map[string]*Comparison{}
	var order []string
	for i := range v.Comparisons {
		d := &v.Comparisons[i]
		old := greatest[d.Left.Metric]
		if old == nil {
			order = append(order, d.Left.Metric)
		}
		if old == nil || !old.Left.Mean.Defined() || d.Left.Mean > old.Left.Mean {
			greatest[d.Left.Metric] = d
		}
	}
	var all []string
	for _, metric := range order {
		if d := greatest[metric]; d.Left.Mean.Defined() {
			all = append(all, fmt.Sprintf("%s %.2g (bound %g)", metric, float64(d.Left.Mean), d.Bound))
		}
	}
	return cmp.Or(strings.Join(all, ", "), dash)
}

func (v *Verdict) spread() string {
	greatest := math.Inf(-1)
	for _, d := range v.Comparisons {
		if d.Spread.Defined() {
			greatest = max(greatest, float64(d.Spread))
		}
	}
	if math.IsInf(greatest, 0) {
		return dash
	}
	return "± " + strings.TrimPrefix(signed(greatest), "+")
}

// test returns the number of comparisons, how many are confirmed, and the number of seeds.
func (v *Verdict) test() string {
	fewest, most, confirmed, worst := math.MaxInt, 0, 0, 0.0
	for _, d := range v.Comparisons {
		if n := len(d.Seeds); n > 0 {
			fewest, most = min(fewest, n), max(most, n)
		}
		if d.Outcome == Confirmed {
			confirmed++
		}
		if d.P.Defined() {
			worst = max(worst, float64(d.P))
		}
	}
	if most == 0 {
		return dash
	}
	seeds := strconv.Itoa(most)
	if fewest < most {
		seeds = fmt.Sprintf("%d to %d", fewest, most)
	}
	s := fmt.Sprintf("%d of %d comparisons confirmed; seeds: %s", confirmed, len(v.Comparisons), seeds)
	if worst > 0 {
		s += fmt.Sprintf("; p up to %.2g", worst)
	}
	return s
}

// comparisons has a row for each comparison of every verdict.
func comparisons(verdicts []Verdict) *report.Table {
	t := &report.Table{Title: "Every comparison", Stacked: true,
		Columns: report.TextColumns("comparison", "data", "published", "ours", "difference", "seeds", "p", "words ahead",
			"outcome")}
	last := ""
	for i := range verdicts {
		v := &verdicts[i]
		for j := range v.Comparisons {
			if v.Data == "" { // there are published figures alone, which the claim has in its row
				break
			}
			d := &v.Comparisons[j]
			t.Rows = append(t.Rows, report.Row{Rule: last != v.ID+v.Data, Cells: words(d.name(), v.Data,
				sides(d.Left.Published, d.Right.Published), d.ours(), d.difference(), strconv.Itoa(len(d.Seeds)),
				probability(d.P), d.Units.String(), because(d.Outcome, d.Reason))})
			last = v.ID + v.Data
		}
	}
	t.Notes = []string{"Both sides are means over their common seeds, in percent if the paper prints percent. " +
		"Differences have their standard deviation over seeds and p of the paired t test. Words ahead counts single words " +
		"or clips, with p of Wilcoxon's signed-rank test. It is about these nets on other words, and decides nothing."}
	return t
}

func (d *Comparison) ours() string {
	if d.Right.Arm == "" && d.Left.Mean.Defined() {
		return fmt.Sprintf("%.2g", float64(d.Left.Mean))
	}
	return sides(d.Left.Mean, d.Right.Mean)
}

func (d *Comparison) difference() string {
	switch {
	case !d.Mean.Defined():
		return dash
	case !d.Spread.Defined():
		return signed(float64(d.Mean))
	}
	return signed(float64(d.Mean)) + " ± " + strings.TrimPrefix(signed(float64(d.Spread)), "+")
}

func probability(p eval.Number) string {
	if !p.Defined() {
		return dash
	}
	return fmt.Sprintf("%.2g", float64(p))
}

// String returns the number of units that are ahead, and the probability.
func (u Units) String() string {
	if u.Count == 0 {
		return dash
	}
	s := fmt.Sprintf("%d of %d", u.Ahead, u.Count)
	if u.P.Defined() {
		s += fmt.Sprintf(", p = %.2g", float64(u.P))
	}
	return s
}

func sides(left, right eval.Number) string {
	if !left.Defined() || !right.Defined() {
		return dash
	}
	return unsigned(float64(left)) + " – " + unsigned(float64(right))
}

// signed writes a difference: two decimals, and more where that is nothing.
func signed(v float64) string {
	s := unsigned(v)
	if v > 0 {
		s = "+" + s
	}
	return strings.Replace(s, "-", "−", 1)
}

func unsigned(v float64) string {
	if v != 0 && math.Abs(v) < .095 {
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}
