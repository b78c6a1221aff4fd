package report

import (
	"image/color"
	"io"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"nmn/eval"
	"nmn/text"
)

// ComparedArm is an arm with its curves.
type ComparedArm struct {
	Name   string
	MIL    bool
	Curves eval.ByGroup[[]eval.CurvePoint]
}

// curvePanels is the number of plots in a row.
const curvePanels = 3

// ArmCurves draws precision against recall as "svg" or "png", a panel for all words and one for each part of
// speech where there are several, with a line for each arm; those with MIL are dashed beside others. Without
// a curve it draws nothing and returns false.
func ArmCurves(w io.Writer, format string, arms []ComparedArm) (bool, error) {
	panels, err := armPanel(nil, "All words", arms, func(a *ComparedArm) []eval.CurvePoint { return a.Curves.All })
	if err != nil || len(panels) == 0 {
		return false, err
	}
	var groups []*plot.Plot
	for p := range text.POSCount {
		if groups, err = armPanel(groups, text.POS(p).String(), arms,
			func(a *ComparedArm) []eval.CurvePoint { return a.Curves.Group[p] }); err != nil {
			return false, err
		}
	}
	if len(groups) > 1 {
		panels = append(panels, groups...)
	}
	panels = append(panels, armLegend(arms))
	var rows [][]*plot.Plot
	for len(panels) > 0 {
		row := make([]*plot.Plot, curvePanels)
		if len(rows) == 0 && len(panels) < curvePanels {
			row = row[:len(panels)]
		}
		panels = panels[copy(row, panels):]
		rows = append(rows, row)
	}
	return true, drawGrid(w, format, rows)
}

// armPanel appends the panel of a group of words, if any arm has a curve there.
func armPanel(panels []*plot.Plot, title string, arms []ComparedArm,
	of func(*ComparedArm) []eval.CurvePoint) ([]*plot.Plot, error) {
	p, drawn := curvePlot(title), false
	for i := range arms {
		points := of(&arms[i])
		if len(points) == 0 {
			continue
		}
		if err := addLine(p, "", curveXYs(points), armColor(arms, i), arms[i].MIL && bothMIL(arms)); err != nil {
			return nil, err
		}
		drawn = true
	}
	if drawn {
		panels = append(panels, p)
	}
	return panels, nil
}

// armLegend is the legend of all panels.
func armLegend(arms []ComparedArm) *plot.Plot {
	p := legendPanel()
	for i, a := range arms {
		p.Legend.Add(a.Name+legendRoom, &plotter.Line{LineStyle: lineStyle(armColor(arms, i), a.MIL && bothMIL(arms))})
	}
	return p
}

// bothMIL reports whether there are arms with MIL and arms without.
func bothMIL(arms []ComparedArm) bool {
	return slices.ContainsFunc(arms, func(a ComparedArm) bool { return a.MIL != arms[0].MIL })
}

// armColor gives an arm and the same with MIL one colour: the dashes tell them apart.
func armColor(arms []ComparedArm, i int) color.Color {
	at := 0
	for _, a := range arms[:i] {
		if a.MIL == arms[i].MIL {
			at++
		}
	}
	return palette[at%len(palette)]
}
