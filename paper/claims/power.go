package claims

import (
	"fmt"
	"math"
	"strconv"

	"nmn/report"
)

// Power returns a table of how many seeds each claim needs, given the spread of results. It returns nil if no
// comparison has two seeds. Each row shows the comparison of a claim that needs the most seeds.
func Power(results []Result) *report.Table {
	t := &report.Table{Title: "Seeds that the claims need",
		Columns: append(report.TextColumns("claim", "comparison", "difference", "spread"),
			report.NumberColumns(0, "seeds", "needed")...),
		Notes: []string{"The table shows the comparison of each claim that needs the most seeds. The difference is the " +
			"paper's, or ours if the paper has none. The spread is that of the complete seeds, and few seeds give a rough " +
			"one. The needed seeds show such a difference in four of five experiments."}}
	verdicts := Check(results)
	for i := range verdicts {
		if d := verdicts[i].hardest(); d != nil {
			t.AddRow(d.powerCells(verdicts[i].ID)...)
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

// hardest returns the comparison that needs the most seeds, which has the smallest difference for its spread. It
// returns nil if no comparison has two seeds.
func (v *Verdict) hardest() (hardest *Comparison) {
	least := math.Inf(1)
	for i := range v.Comparisons {
		d := &v.Comparisons[i]
		if !d.Spread.Defined() {
			continue
		}
		ratio := math.Inf(1)
		if size, _, n := d.power(); n > 0 {
			ratio = math.Abs(float64(size / d.Spread))
		}
		if hardest == nil || ratio < least {
			hardest, least = d, ratio
		}
	}
	return hardest
}

func (d *Comparison) powerCells(claim string) []report.Cell {
	size, published, n := d.power()
	difference, needed := signed(float64(size)), strconv.Itoa(n)
	if !published {
		difference += " (ours)"
	}
	switch {
	case n == 0:
		needed = dash
	case n > MostSeeds:
		needed = fmt.Sprintf("more than %d", MostSeeds)
	}
	return words(claim, d.name(), difference, "± "+unsigned(float64(d.Spread)), strconv.Itoa(len(d.Seeds)), needed)
}
