package report

import (
	"cmp"
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"nmn/eval"
	"nmn/labels"
	"nmn/text"
)

// ScoreCurves draws precision against recall as "svg" or "png": of all words, with dots where the two
// thresholds of the evaluation cut, and beside it of each part of speech where there are several. at may be
// nil. Without a curve it draws nothing and returns false.
func ScoreCurves(w io.Writer, format string, curves eval.ByGroup[[]eval.CurvePoint], at *eval.Measures) (bool, error) {
	if len(curves.All) == 0 {
		return false, nil
	}
	all := curvePlot("All words")
	if err := addLine(all, "", curveXYs(curves.All), blue, false); err != nil {
		return false, err
	}
	if at != nil {
		if err := addCuts(all, at); err != nil {
			return false, err
		}
	}
	panels := []*plot.Plot{all}
	groups, names, drawn := curvePlot("By part of speech"), legendPanel(), 0
	for p, points := range curves.Group {
		if len(points) == 0 {
			continue
		}
		// Dashes tell neighbours apart in grey.
		dashed := drawn%2 == 1
		if err := addLine(groups, "", curveXYs(points), palette[p], dashed); err != nil {
			return false, err
		}
		names.Legend.Add(text.POS(p).String()+legendRoom, &plotter.Line{LineStyle: lineStyle(palette[p], dashed)})
		drawn++
	}
	if drawn > 1 {
		panels = append(panels, groups, names)
	}
	return true, drawPanels(w, format, panels...)
}

func curvePlot(title string) *plot.Plot {
	p := newPlot(title, "recall", "precision")
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1.02
	placeLegend(p, true, false)
	return p
}

// curveXYs starts at recall 0 with the first precision, as average precision counts it.
func curveXYs(points []eval.CurvePoint) plotter.XYs {
	xys := plotter.XYs{{X: 0, Y: points[0].Precision}}
	for _, p := range points {
		xys = append(xys, plotter.XY{X: p.Recall, Y: p.Precision})
	}
	return xys
}

// addCuts marks what is predicted at the thresholds, by shape and colour.
func addCuts(p *plot.Plot, m *eval.Measures) error {
	labels := cmp.Or(m.Truth, m.Labels)
	if labels == nil {
		return nil
	}
	for _, cut := range []struct {
		name  string
		f1    eval.F1
		color color.Color
		shape draw.GlyphDrawer
	}{{"p ≥ 0.5", labels.AtThreshold.All, red, draw.BoxGlyph{}}, {"p ≥ θ*", labels.AtPlugIn.All, color.Black,
		draw.PyramidGlyph{}}} {
		if !cut.f1.OR.Defined() || !cut.f1.OP.Defined() {
			continue
		}
		dot, err := plotter.NewScatter(plotter.XYs{{X: float64(cut.f1.OR), Y: float64(cut.f1.OP)}})
		if err != nil {
			return err
		}
		dot.GlyphStyle = draw.GlyphStyle{Color: cut.color, Radius: vg.Points(4), Shape: cut.shape}
		p.Add(dot)
		p.Legend.Add(cut.name+legendRoom, dot)
	}
	return nil
}

// RateScatter draws estimated against true rates of words as "svg" or "png", q01 and q10 side by side; what
// is estimated as it is lies on the dashed line. Without true rates it draws nothing and returns false.
func RateScatter(w io.Writer, format string, rates labels.Table) (bool, error) {
	var panels []*plot.Plot
	for _, side := range []struct {
		title string
		color color.Color
		of    func(labels.Row) (truth, estimate eval.Number)
	}{
		{"Missing: q01", blue, func(r labels.Row) (eval.Number,
			eval.Number) {
			return eval.Number(r.T01), eval.Number(r.Q01)
		}},
		{"Made up: q10", red, func(r labels.Row) (eval.Number,
			eval.Number) {
			return eval.Number(r.T10), eval.Number(r.Q10)
		}},
	} {
		var xys plotter.XYs
		top := 0.0
		for _, r := range rates {
			if truth, estimate := side.of(r); truth.Defined() && estimate.Defined() {
				xys = append(xys, plotter.XY{X: float64(truth), Y: float64(estimate)})
				top = max(top, float64(truth), float64(estimate))
			}
		}
		if len(xys) == 0 {
			continue
		}
		top = min(1, max(1.05*top, 1e-6))
		p := newPlot(side.title, "true rate", "estimated rate")
		if err := addLine(p, "", plotter.XYs{{X: 0, Y: 0}, {X: top, Y: top}}, color.Gray{Y: 120}, true); err != nil {
			return false, err
		}
		if err := addDots(p, xys, side.color); err != nil {
			return false, err
		}
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, top, 0, top
		panels = append(panels, p)
	}
	if len(panels) == 0 {
		return false, nil
	}
	return true, drawPanels(w, format, panels...)
}
