package report

import (
	"strings"
	"testing"

	"nmn/eval"
)

// The page shows verdicts as words with a sign and a class of the style, a chart of differences, and folded figures.
func TestReproduction_ShowsClaimsAsAPlot(t *testing.T) {
	r := &Reproduction{Title: "x", Plots: []PlottedClaim{
		{Claim: "A is better" + markup, Where: "Table 1", Data: "scenes", Outcome: Confirmed,
			Figures:     &Table{Title: "All figures", Columns: []Column{{Name: "p"}}, Rows: []Row{{Cells: []Cell{figure(.01)}}}},
			Differences: []ClaimDifference{{Name: "20 % noise", Mean: 2, Low: 1, High: 3, Published: 1.5, Outcome: Confirmed}}},
		{Claim: "B is better", Data: "scenes", Outcome: NotConfirmed, Reason: "it is not"},
		{Claim: "C is better", Beyond: true, Outcome: NotTested,
			Differences: []ClaimDifference{{Name: "a name that is too long for the left side", Mean: eval.Undefined(),
				Low: eval.Undefined(), High: eval.Undefined(), Published: -4, Outcome: NotTested}}},
	}}
	page := said(t, r.WriteHTML)
	has(t, page, `<span class="verdict confirmed"><i aria-hidden="true">✓</i> confirmed</span> on scenes`,
		`<span class="verdict refuted"><i aria-hidden="true">✗</i> not confirmed</span>`, "It is not.",
		`<span class="verdict undecided"><i aria-hidden="true">?</i> not tested</span>`, "Claims beyond the paper",
		"<summary>Source and figures</summary>", `id="claim-1-1-t"`, `id="claim-3-1-t"`, ">20 % noise</text>")
	if a := claimAxis(r.Plots); a.Min >= -4 || a.Max <= 3 {
		t.Errorf("axis %+v does not hold all differences", a)
	}
	if strings.Contains(page, markup) || claimChart(&r.Plots[1], claimAxis(r.Plots)) != nil {
		t.Error("markup of a claim is not escaped, or a claim without differences has a chart")
	}
}
