package report

import (
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"nmn/eval"
	"nmn/report/chart"
)

// ClaimOutcome is what became of a claim or of one comparison of it.
type ClaimOutcome string

// The outcomes. They stand in words wherever they are shown.
const (
	Confirmed    ClaimOutcome = "confirmed"
	NotConfirmed ClaimOutcome = "not confirmed"
	NotTested    ClaimOutcome = "not tested"
)

// look is how an outcome is drawn: the class of the page's style, a sign that does not need colour, and the mark of a
// chart.
func (o ClaimOutcome) look() (class, sign string, mark chart.Mark) {
	switch o {
	case Confirmed:
		return "confirmed", "✓", chart.Mark{Shape: chart.Dot, Color: chart.Green}
	case NotConfirmed:
		return "refuted", "✗", chart.Mark{Shape: chart.Square, Color: chart.Red}
	}
	return "undecided", "?", chart.Mark{Shape: chart.Triangle, Color: chart.Grey}
}

// Class is the class of the outcome in the page's style.
func (o ClaimOutcome) Class() string {
	class, _, _ := o.look()
	return class
}

// Mark is the sign of the outcome.
func (o ClaimOutcome) Mark() string {
	_, sign, _ := o.look()
	return sign
}

// PlottedClaim is a claim of a paper with its verdict and the differences that decide it.
type PlottedClaim struct {
	Claim, Where, Data string // Where is empty for a claim that the paper does not make, Data if there are no results
	Beyond             bool   // the paper does not make the claim
	Outcome            ClaimOutcome
	Reason             string
	Differences        []ClaimDifference
	Figures            *Table // every comparison, folded; nil for none
}

// Because is the reason as a sentence.
func (c *PlottedClaim) Because() string { return capital(c.Reason) }

// ClaimDifference is the difference between two arms. A positive one supports the claim.
type ClaimDifference struct {
	Name            string
	Mean, Low, High eval.Number // over seeds; an interval from Mean to Mean is not drawn
	Published       eval.Number // undefined if the paper has none
	Outcome         ClaimOutcome
}

type claimSection struct {
	*PlottedClaim
	Charts []pageChart
	Tables []pageTable
}

// claimGroup is the claims of the paper, or those beyond it.
type claimGroup struct {
	Title  string
	Claims []claimSection
}

type outcomeCount struct {
	Outcome ClaimOutcome
	Count   int
}

func outcomeCounts(claims []PlottedClaim) (out []outcomeCount) {
	for _, o := range []ClaimOutcome{Confirmed, NotConfirmed, NotTested} {
		n := 0
		for i := range claims {
			if claims[i].Outcome == o {
				n++
			}
		}
		if n > 0 {
			out = append(out, outcomeCount{o, n})
		}
	}
	return out
}

func claimGroups(claims []PlottedClaim) []claimGroup {
	groups := []claimGroup{{Title: "What the paper claims"}, {Title: "Claims beyond the paper"}}
	for i := range claims {
		c := &claims[i]
		s := claimSection{PlottedClaim: c}
		if chart := claimChart(c); chart != nil {
			s.Charts = pageCharts("claim-"+strconv.Itoa(i+1), []numbered{{Chart: chart}})
		}
		if c.Figures != nil {
			s.Tables = pageTables([]*Table{c.Figures})
		}
		at := 0
		if c.Beyond {
			at = 1
		}
		groups[at].Claims = append(groups[at].Claims, s)
	}
	return slices.DeleteFunc(groups, func(g claimGroup) bool { return len(g.Claims) == 0 })
}

// claimAxis holds all differences of a claim and 0. Claims have axes of their own: captions differ by tens of points,
// classifiers by tenths.
func claimAxis(c *PlottedClaim) chart.Axis {
	a := chart.Axis{Label: "difference in points; right of 0 supports the claim"}
	for _, d := range c.Differences {
		for _, v := range []eval.Number{d.Mean, d.Low, d.High, d.Published} {
			if v.Defined() {
				a.Min, a.Max = min(a.Min, float64(v)), max(a.Max, float64(v))
			}
		}
	}
	room := max(.1, .04*(a.Max-a.Min))
	a.Min, a.Max = a.Min-room, a.Max+room
	return a
}

// leftNames is the length of names that fit to the left of a chart on a telephone too.
const leftNames = 16

// claimChart is a forest plot: a row for each difference, with its interval and the published difference. It is nil
// without differences.
func claimChart(c *PlottedClaim) *chart.Chart {
	if len(c.Differences) == 0 {
		return nil
	}
	out := &chart.Chart{X: claimAxis(c), Summary: "Each row is a difference between two arms. A difference right of 0 " +
		"supports the claim: " + c.Claim}
	zero := chart.Mark{Shape: chart.Thin, Color: chart.Ink}
	published := chart.Mark{Shape: chart.Diamond, Color: chart.Purple}
	var marks []chart.Mark
	for i, d := range c.Differences {
		out.Rows = append(out.Rows, d.Name)
		out.Above = out.Above || utf8.RuneCountInString(d.Name) > leftNames
		at := func(v eval.Number) chart.Point { return chart.Point{X: float64(v), Y: float64(i)} }
		if d.Published.Defined() {
			published.Points = append(published.Points, at(d.Published))
		}
		if !d.Mean.Defined() {
			continue
		}
		_, _, sign := d.Outcome.look()
		if d.High-d.Low > 0 && !math.IsInf(float64(d.High), 0) {
			marks = append(marks, chart.Mark{Shape: chart.Thin, Color: sign.Color, Points: []chart.Point{at(d.Low), at(d.High)}})
		}
		sign.Points = []chart.Point{at(d.Mean)}
		marks = append(marks, sign)
	}
	top := -.5
	if out.Above {
		top = -.1 // below the names
	}
	for i := range out.Rows {
		y := float64(i)
		zero.Points = append(zero.Points, chart.Point{X: 0, Y: y + top}, chart.Point{X: 0, Y: y + .5})
	}
	out.Marks = append([]chart.Mark{zero, published}, marks...)
	out.Title = c.Claim
	return out
}
