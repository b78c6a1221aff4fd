package claims

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"nmn/eval"
	"nmn/report"
)

// confidence is the level of the intervals that plots show.
const confidence = .95

// Plots returns the verdicts as the page of a reproduction draws them.
func Plots(verdicts []Verdict) []report.PlottedClaim {
	var all []report.PlottedClaim
	for i := range verdicts {
		v := &verdicts[i]
		c := report.PlottedClaim{Claim: v.Claim, Where: v.Where, Data: v.Data, Beyond: v.Beyond,
			Outcome: v.Outcome, Reason: v.Reason}
		if v.Data != "" {
			one := comparisons(verdicts[i : i+1])
			one.Title, one.Notes = "All figures", nil
			c.Figures = one
		}
		names := v.shortNames()
		for j := range v.Comparisons {
			if d := &v.Comparisons[j]; d.plotted() {
				c.Differences = append(c.Differences, d.difference95(names[j]))
			}
		}
		all = append(all, c)
	}
	return all
}

// plotted reports whether the difference is in points, where more is better: errors and bounds have other units.
func (d *Comparison) plotted() bool {
	return d.Right.Arm != "" && !lessIsBetter(d.Left.Metric) && (d.Mean.Defined() || d.Published.Defined())
}

// difference95 returns the mean difference with its confidence interval. Fewer than FewestSeeds seeds have no interval.
func (d *Comparison) difference95(name string) report.ClaimDifference {
	out := report.ClaimDifference{Name: name, Mean: d.Mean, Low: d.Mean, High: d.Mean, Published: d.Published,
		Outcome: d.Outcome}
	if n := float64(len(d.Differences)); len(d.Differences) >= FewestSeeds && d.Spread.Defined() {
		t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile((1 + confidence) / 2)
		half := t * float64(d.Spread) / math.Sqrt(n)
		out.Low, out.High = d.Mean-eval.Number(half), d.Mean+eval.Number(half)
	}
	return out
}

// arms names the arms of a comparison. If all comparisons are between the same two arms, only MIL is named.
func (v *Verdict) arms(d *Comparison) string {
	base := func(arm string) string { return strings.TrimSuffix(arm, MIL) }
	for i := range v.Comparisons {
		if o := &v.Comparisons[i]; base(o.Left.Arm) != base(d.Left.Arm) || base(o.Right.Arm) != base(d.Right.Arm) {
			return title(d.Left.Arm) + " – " + title(d.Right.Arm)
		}
	}
	if strings.HasSuffix(d.Left.Arm, MIL) {
		return "MIL"
	}
	return ""
}

// shortNames returns names of the comparisons that hold what differs between them, such as the level of noise.
func (v *Verdict) shortNames() []string {
	parts := make([][4]string, len(v.Comparisons))
	differs := [4]bool{}
	for i := range v.Comparisons {
		d := &v.Comparisons[i]
		parts[i] = [4]string{v.arms(d), d.Left.Metric, fmt.Sprintf("%.4g %% noise", math.Round(100*d.Missing)), d.Words}
		for k := range differs {
			differs[k] = differs[k] || parts[i][k] != parts[0][k]
		}
	}
	differs[2] = differs[2] || !differs[0] && !differs[1] && !differs[3]
	names := make([]string, len(parts))
	for i, p := range parts {
		var shown []string
		for _, k := range []int{3, 1, 2, 0} {
			if differs[k] && p[k] != "" {
				shown = append(shown, p[k])
			}
		}
		names[i] = strings.Join(shown, ", ")
	}
	if slices.Contains(names, "") { // MIL alone differs
		for i := range names {
			names[i] = map[string]string{"": "without MIL", "MIL": "with MIL"}[names[i]]
		}
	}
	return names
}
