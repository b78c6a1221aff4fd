package report

import (
	"cmp"
	"fmt"
	"slices"

	"nmn/eval"
	"nmn/labels"
	"nmn/report/chart"
	"nmn/text"
)

// fewPoints is the number of points up to which each is marked; a single one has no line at all.
const fewPoints = 40

// rowsOfNumbers is the length of a table of the numbers of a curve.
const rowsOfNumbers = 40

// trainingCharts draws the loss and, if it was measured, the validation AP or accuracy over the steps of a run.
// Without measurements there are no charts. Each stage has its own line and colour.
func trainingCharts(curve []Point) []numbered {
	type panel struct {
		title, axis string
		decimals    int
		of          func(Point) eval.Number
	}
	loss := panel{title: "Training loss", axis: "loss", decimals: 4, of: func(p Point) eval.Number { return p.Loss }}
	judged := panel{title: "Validation AP", axis: "AP (%)", decimals: 2,
		of: func(p Point) eval.Number { return 100 * p.AP }}
	if slices.ContainsFunc(curve, func(p Point) bool { return p.Accuracy }) {
		judged.title, judged.axis = "Validation accuracy", "accuracy (%)"
	}
	var out []numbered
	for _, panel := range []panel{loss, judged} {
		c := &chart.Chart{Title: panel.title, X: chart.Axis{Label: "step"}, Y: chart.Axis{Label: panel.axis}}
		addStages(c, curve, panel.of)
		if c.Empty() {
			continue
		}
		c.X.Max = farthest(c.Marks)
		out = append(out, numbered{Chart: c, numbers: curveTable(c, panel.axis, panel.decimals)})
	}
	return out
}

// farthest is the largest x of all points, at least 0.
func farthest(marks []chart.Mark) (x float64) {
	for _, m := range marks {
		for _, p := range m.Points {
			x = max(x, p.X)
		}
	}
	return x
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
			t.AddRow(words(m.Name), whole(p.X), figure(p.Y))
		}
		if len(m.Points) > most {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: %d of %d measurements.", m.Name, most, len(m.Points)))
		}
	}
	return t
}

// FoldLossTable shows the out-of-fold loss of each epoch, counted from 1, and which epoch was chosen by it.
func FoldLossTable(title string, loss []float64, best int) *Table {
	t := &Table{Title: title, Columns: []Column{{Name: "epoch"}, {Name: "loss", Decimals: 4},
		{Name: "remarks", Text: true}}}
	for i, v := range loss {
		remark := ""
		if i+1 == best {
			remark = "least: the scores come from this epoch"
		}
		t.AddRow(count(i+1), figure(v), words(remark))
	}
	return t
}

// recallCharts are precision against recall: of all words, with signs at the two thresholds of the evaluation, and then
// of each part of speech if there are several. at may be nil. Without a curve there is no chart.
func recallCharts(curves eval.ByGroup[[]eval.CurvePoint], at *eval.Measures) []numbered {
	if len(curves.All) == 0 {
		return nil
	}
	all := recallChart("All predictions")
	all.Marks = []chart.Mark{{Color: chart.Blue, Points: curvePoints(curves.All)}}
	all.Summary = "Precision against recall of all predictions as one list."
	if at != nil {
		all.Marks = append(all.Marks, cuts(at)...)
	}
	out := []numbered{{Chart: all, numbers: recallTable([]namedCurve{{"precision", curves.All}})}}
	groups := recallChart("By part of speech")
	groups.Summary = "Precision against recall, a line for each part of speech."
	var lines []namedCurve
	for p, points := range curves.Group {
		if len(points) > 0 {
			name := groupTitle(text.POS(p))
			groups.Marks = append(groups.Marks, chart.Mark{Name: name, Color: chart.Color(p % chart.Colors),
				Dashed: everyOther(len(lines)), Points: curvePoints(points)})
			lines = append(lines, namedCurve{name, points})
		}
	}
	if len(lines) > 1 {
		out = append(out, numbered{Chart: groups, numbers: recallTable(lines)})
	}
	return out
}

func recallChart(title string) *chart.Chart {
	return &chart.Chart{Title: title, X: chart.Axis{Label: "recall", Max: 1, Step: .2},
		Y: chart.Axis{Label: "precision", Max: 1, Step: .2}}
}

// curvePoints start at recall 0 with the first precision, as average precision counts it.
func curvePoints(points []eval.CurvePoint) []chart.Point {
	out := []chart.Point{{X: 0, Y: points[0].Precision}}
	for _, p := range points {
		out = append(out, chart.Point{X: p.Recall, Y: p.Precision})
	}
	return out
}

type namedCurve struct {
	name   string
	points []eval.CurvePoint
}

// recallTable has the precision of curves at a tenth of recall, two tenths and so on.
func recallTable(curves []namedCurve) *Table {
	t := &Table{Columns: []Column{{Name: "recall", Decimals: 1}}}
	for _, c := range curves {
		t.Columns = append(t.Columns, Column{Name: c.name, Decimals: 3})
	}
	for tenth := 1; tenth <= 10; tenth++ {
		row := Row{Cells: []Cell{figure(float64(tenth) / 10)}}
		for _, c := range curves {
			at := eval.Undefined()
			for _, p := range c.points {
				if p.Recall >= float64(tenth)/10-1e-9 {
					at = eval.Number(p.Precision)
					break
				}
			}
			row.Cells = append(row.Cells, number(at))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// cuts marks the predictions at the thresholds, by shape and colour.
func cuts(m *eval.Measures) []chart.Mark {
	judged := cmp.Or(m.Truth, m.Labels)
	if judged == nil {
		return nil
	}
	var marks []chart.Mark
	for _, cut := range []struct {
		name  string
		f1    eval.F1
		color chart.Color
		shape chart.Shape
	}{{"p ≥ 0.5", judged.AtThreshold.All, chart.Red, chart.Square}, {"p ≥ θ*", judged.AtPlugIn.All, chart.Ink,
		chart.Triangle}} {
		if cut.f1.OR.Defined() && cut.f1.OP.Defined() {
			marks = append(marks, chart.Mark{Name: cut.name, Shape: cut.shape, Color: cut.color,
				Points: []chart.Point{{X: float64(cut.f1.OR), Y: float64(cut.f1.OP)}}})
		}
	}
	return marks
}

// rateCharts draws the estimated rates of classes against the true ones, q01 and q10 side by side. A right
// estimate lies on the dashed line. A rate without true values has no chart.
func rateCharts(rates labels.Table) []numbered {
	var out []numbered
	for _, side := range []struct {
		title string
		color chart.Color
		of    func(labels.Row) (truth, estimate float64)
	}{
		{"Missing labels: q01", chart.Blue, func(r labels.Row) (truth, estimate float64) { return r.T01, r.Q01 }},
		{"Incorrect labels: q10", chart.Red, func(r labels.Row) (truth, estimate float64) { return r.T10, r.Q10 }},
	} {
		dots := chart.Mark{Shape: chart.Dot, Color: side.color}
		top := 0.0
		for _, r := range rates {
			truth, estimate := side.of(r)
			if eval.Number(truth).Defined() && eval.Number(estimate).Defined() {
				dots.Points = append(dots.Points, chart.Point{X: truth, Y: estimate})
				top = max(top, truth, estimate)
			}
		}
		if len(dots.Points) == 0 {
			continue
		}
		top = min(1, max(1.05*top, 1e-6))
		out = append(out, numbered{Chart: &chart.Chart{Title: side.title,
			Summary: "The rate in the model against the true rate, a dot for each class. On the dashed line they are equal.",
			X:       chart.Axis{Label: "true rate", Max: top}, Y: chart.Axis{Label: "rate in the model", Max: top},
			Marks: []chart.Mark{{Color: chart.Grey, Dashed: true, Points: []chart.Point{{X: 0, Y: 0}, {X: top, Y: top}}},
				dots}}})
	}
	return out
}
