package report

import (
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"nmn/eval"
)

// Curves draws the loss and, where it was measured, the validation AP over the steps of a run, as
// "svg" or "png". Each stage has its own line and colour. Without any measurement it draws nothing
// and returns false.
func Curves(w io.Writer, format string, curve []Point) (bool, error) {
	var panels []*plot.Plot
	for _, panel := range []struct {
		title, axis string
		top         bool
		of          func(Point) eval.Number
	}{
		{"Training loss", "loss", true, func(p Point) eval.Number { return p.Loss }},
		{"Validation AP", "AP (%)", false, func(p Point) eval.Number { return 100 * p.AP }},
	} {
		p := newPlot(panel.title, "step", panel.axis)
		placeLegend(p, panel.top, false)
		lines, err := addStages(p, curve, panel.of)
		if err != nil {
			return false, err
		}
		if lines > 0 {
			p.X.Min = 0
			margin := (p.Y.Max - p.Y.Min) / 20
			p.Y.Min, p.Y.Max = p.Y.Min-margin, p.Y.Max+margin
			panels = append(panels, p)
		}
	}
	if len(panels) == 0 {
		return false, nil
	}
	return true, drawPanels(w, format, panels...)
}

// addStages adds one line for each stage, in the order of their first points, and returns how many.
func addStages(p *plot.Plot, curve []Point, of func(Point) eval.Number) (int, error) {
	lines := map[string]plotter.XYs{}
	var stages []string
	for _, point := range curve {
		v := of(point)
		if !v.Defined() {
			continue
		}
		if lines[point.Stage] == nil {
			stages = append(stages, point.Stage)
		}
		lines[point.Stage] = append(lines[point.Stage], plotter.XY{X: float64(point.Step), Y: float64(v)})
	}
	for i, stage := range stages {
		xys := lines[stage]
		if err := addLine(p, stage, xys, palette[i%len(palette)], false); err != nil {
			return 0, err
		}
		if len(xys) <= fewPoints {
			if err := addDots(p, xys, palette[i%len(palette)]); err != nil {
				return 0, err
			}
		}
	}
	return len(stages), nil
}

// fewPoints is the number of points up to which each is marked; a single one has no line at all.
const fewPoints = 12
