package report

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"

	"nmn/eval"
	"nmn/report/chart"
)

var experimentTemplate = htmlTemplate("experiment")

// ExperimentPage is one HTML file, without anything from elsewhere, with the tables of an experiment and
// links to the pages of its runs.
type ExperimentPage struct {
	Name     string
	Shown    []*Table    // the main measures
	Rows     []Explained // what the rows are
	Remarks  []string    // what else one must know to read them, a paragraph each
	All      []*Table    // every measure, folded away
	Runs     []LinkedRun
	Compared []Comparison // arms side by side, one for each noise level; only the first is unfolded
}

// Explained is a name with its meaning, in a line.
type Explained struct{ Name, Meaning string }

// LinkedRun is a run with its folder and page, as paths from the folder of the experiment with slashes. Page
// is empty for a run without one.
type LinkedRun struct {
	*Run
	Folder, Page string
}

type runRow struct {
	Noise, Arm, Value string
	Seed              uint64
	Folder, Page      string
	Rule              bool // the first at its noise level
}

// Write writes the page.
func (p *ExperimentPage) Write(w io.Writer) error {
	runs := make([]Run, len(p.Runs))
	for i, r := range p.Runs {
		runs[i] = *r.Run
	}
	figure := mainMetric(runs)
	results, err := resultCharts(runs)
	if err != nil {
		return err
	}
	var rows []runRow
	for i, r := range p.Runs {
		row := runRow{Noise: r.key().noiseCell().Text, Arm: r.Title(), Value: dash, Seed: r.Seed, Folder: r.Folder,
			Page: r.Page}
		if r.Result != nil {
			if v := figure.of(r.Run); v.Defined() {
				row.Value = fmt.Sprintf("%.*f", figure.decimals, float64(figure.scale*v))
			}
		}
		row.Rule = i > 0 && row.Noise != rows[i-1].Noise
		rows = append(rows, row)
	}
	return experimentTemplate.Execute(w, struct {
		Style         template.CSS
		Page          *ExperimentPage
		Results       []pageChart
		Shown, All    []pageTable
		Runs          []runRow
		Noise, Figure string
		Compared      []comparisonSection
	}{template.CSS(pageStyle + htmlFile("bags.css")), p, pageCharts("result", results), pageTables(p.Shown),
		pageTables(p.All), rows, noiseColumn, figure.name + " %", comparisonSections("arms", p.Compared)})
}

// mainMetric is the measure that compares arms: accuracy if classes exclude each other, else AP against the truth if
// every run has it, otherwise with human agreement, otherwise against the labels.
func mainMetric(runs []Run) metric {
	all := measureTable(true)
	for _, m := range all[:aps-1] {
		if !slices.ContainsFunc(runs, func(r Run) bool { return r.Result != nil && !m.of(&r).Defined() }) {
			return m
		}
	}
	return all[aps-1]
}

// resultCharts show the main measure of every arm: each seed, their mean and standard deviation. There is one for each
// level of noise, without and with MIL apart, all on the same axis.
func resultCharts(runs []Run) ([]numbered, error) {
	cells, err := group(runs)
	if err != nil {
		return nil, err
	}
	m := mainMetric(runs)
	var out []numbered
	low, high := math.Inf(1), math.Inf(-1)
	noises, mils := map[string]bool{}, map[bool]bool{}
	for _, c := range cells {
		noises[c.noiseCell().Text], mils[c.mil] = true, true
	}
	for first := 0; first < len(cells); {
		end := first
		for end < len(cells) && cells[end].sameBlock(cells[first].cellKey) {
			end++
		}
		c := resultChart(m, cells[first:end])
		first = end
		if c.Empty() {
			continue
		}
		block := cells[end-1].cellKey
		c.Title = m.name
		if len(noises) > 1 {
			c.Title += " at noise of " + block.noiseCell().Text + " %"
		}
		if len(mils) > 1 && block.mil {
			c.Title += ", with MIL"
		} else if len(mils) > 1 {
			c.Title += ", without MIL"
		}
		for _, mark := range c.Marks {
			for _, p := range mark.Points {
				low, high = min(low, p.X), max(high, p.X)
			}
		}
		out = append(out, numbered{Chart: c})
	}
	room := max(.5, (high-low)*.06)
	for i := range out {
		out[i].X.Min, out[i].X.Max = max(0, low-room), min(100, high+room)
	}
	return out, nil
}

// resultChart is the chart of the arms of a block, a row for each.
func resultChart(m metric, cells []cellOf) *chart.Chart {
	c := &chart.Chart{X: chart.Axis{Label: m.name + ", %"}, Above: true}
	spread := chart.Mark{Name: "mean ± standard deviation", Shape: chart.Thick, Color: chart.Blue, Faint: true}
	mean := chart.Mark{Name: "mean", Shape: chart.Upright, Color: chart.Ink}
	seeds := chart.Mark{Name: "a seed", Shape: chart.Dot, Color: chart.Blue}
	column := Column{Decimals: m.decimals}
	for i := range cells {
		of := &cells[i]
		y := float64(i)
		cell := overSeeds(valuesOf(m, of.runs))
		c.Rows = append(c.Rows, of.runs[0].Title())
		c.Values = append(c.Values, cell.display(column))
		c.Summary += fmt.Sprintf("%s: %s. ", of.runs[0].Title(), cell.display(column))
		if cell.Spread.Defined() {
			spread.Points = append(spread.Points, chart.Point{X: float64(cell.Value - cell.Spread), Y: y},
				chart.Point{X: float64(cell.Value + cell.Spread), Y: y})
			mean.Points = append(mean.Points, chart.Point{X: float64(cell.Value), Y: y})
		}
		for _, v := range valuesOf(m, of.runs) {
			if v.Defined() {
				seeds.Points = append(seeds.Points, chart.Point{X: float64(v), Y: y})
			}
		}
	}
	c.Marks = []chart.Mark{spread, mean, seeds}
	return c
}

// spreadTitle completes a title with the kind of figures in the cells: over seeds, or of one seed.
func (t *Table) spreadTitle(what, single string) {
	for _, row := range t.Rows {
		for _, c := range row.Cells {
			if c.Spread.Defined() {
				t.Title = what + "mean ± standard deviation over seeds"
				return
			}
		}
	}
	t.Title = what + single
}

// printed is a value as a column prints it, so that figures that look equal are equal.
func (c Cell) printed(column Column) eval.Number {
	if !c.Value.Defined() {
		return c.Value
	}
	shown := strconv.FormatFloat(float64(c.Value), 'f', cmp.Or(c.decimals, column.Decimals), 64)
	v, err := strconv.ParseFloat(shown, 64)
	if err != nil {
		return c.Value
	}
	return eval.Number(v)
}
