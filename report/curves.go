package report

import (
	"fmt"

	"nmn/eval"
	"nmn/report/chart"
)

// fewPoints is the number of points up to which each is marked; a single one has no line at all.
const fewPoints = 40

// rowsOfNumbers is the length of a table of the numbers of a curve.
const rowsOfNumbers = 40

// trainingCharts draws the loss and, if it was measured, the validation AP over the steps of a run. Without
// measurements there are no charts. Each stage has its own line and colour.
func trainingCharts(curve []Point) []numbered {
	var out []numbered
	for _, panel := range []struct {
		title, axis string
		decimals    int
		of          func(Point) eval.Number
	}{
		{"Training loss", "loss", 4, func(p Point) eval.Number { return p.Loss }},
		{"Validation AP", "AP (%)", 2, func(p Point) eval.Number { return 100 * p.AP }},
	} {
		c := &chart.Chart{Title: panel.title, X: chart.Axis{Label: "step"}, Y: chart.Axis{Label: panel.axis}}
		addStages(c, curve, panel.of)
		if c.Empty() {
			continue
		}
		for _, m := range c.Marks {
			for _, p := range m.Points {
				c.X.Max = max(c.X.Max, p.X)
			}
		}
		out = append(out, numbered{Chart: c, numbers: curveTable(c, panel.axis, panel.decimals)})
	}
	return out
}

// addStages adds one line for each stage, in the order of their first points.
func addStages(c *chart.Chart, curve []Point, of func(Point) eval.Number) {
	at := map[string]int{}
	for _, point := range curve {
		v := float64(of(point))
		if !eval.Number(v).Defined() {
			continue
		}
		i, ok := at[point.Stage]
		if !ok {
			i = len(c.Marks)
			at[point.Stage] = i
			c.Marks = append(c.Marks, chart.Mark{Name: point.Stage, Color: chart.Color(i % chart.Colors)})
		}
		c.Marks[i].Points = append(c.Marks[i].Points, chart.Point{X: float64(point.Step), Y: v})
	}
	for _, m := range c.Marks {
		if n := len(m.Points); n > 0 {
			first, last := m.Points[0], m.Points[n-1]
			c.Summary += fmt.Sprintf("%s: from %.4g at step %.0f to %.4g at step %.0f. ", m.Name, first.Y, first.X,
				last.Y, last.X)
			if n <= fewPoints {
				m.Name, m.Shape = "", chart.Dot
				c.Marks = append(c.Marks, m)
			}
		}
	}
}

// curveTable are the numbers of a chart of lines, or some of them.
func curveTable(c *chart.Chart, name string, decimals int) *Table {
	t := &Table{Columns: []Column{{Name: "stage", Text: true}, {Name: "step"}, {Name: name, Decimals: decimals}}}
	lines := 0
	for _, m := range c.Marks {
		if m.Shape == chart.Line {
			lines++
		}
	}
	for _, m := range c.Marks {
		if m.Shape != chart.Line {
			continue
		}
		most := max(2, rowsOfNumbers/lines)
		for _, i := range spread(len(m.Points), most) {
			p := m.Points[i]
			t.Rows = append(t.Rows, Row{Cells: []Cell{words(m.Name), whole(p.X), figure(p.Y)}})
		}
		if len(m.Points) > most {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: %d of %d measurements.", m.Name, most, len(m.Points)))
		}
	}
	return t
}
