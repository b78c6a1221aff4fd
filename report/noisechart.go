package report

import (
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"nmn/eval"
)

// chartedWords is the number of words up to which a chart can be read.
const chartedWords = 100

// NoiseChart draws both rates side by side as "svg" or "png", for each the words with the highest, at most
// 100, from the top: the rate as a dot on a bar from 0, or on a feature-dependent model's quantiles (5 to
// 95 % thin, 25 to 75 % thick); the true rate as a cross line; the interval that scores have told below.
func NoiseChart(w io.Writer, format string, r *NoiseReport) error {
	return noiseChart(w, format, r, chartedWords)
}

func noiseChart(w io.Writer, format string, r *NoiseReport, most int) error {
	var panels []*plot.Plot
	rows := min(most, len(r.Q01.Words))
	for _, side := range r.sides() {
		p := newPlot(side.title, "rate", "")
		strips := noiseStrips(side.Words[:rows])
		p.Add(strips)
		p.X.Min = 0
		p.Y.Padding = 5 * vg.Millimeter // a reader's font may be wider than the one that names are measured with
		names := make([]string, rows)
		for i := range names {
			names[i] = side.Words[rows-1-i].Word
		}
		p.NominalY(names...)
		p.Y.Min, p.Y.Max = -.6, float64(rows)-.4
		panels = append(panels, p)
	}
	const row, around, width = 5 * vg.Millimeter, 25 * vg.Millimeter, 26 * vg.Centimeter
	return drawSized(w, format, vg.Point{X: width, Y: around + row*vg.Length(rows)}, [][]*plot.Plot{panels})
}

// noiseStrips draw a row for each word, the first at the top.
type noiseStrips []WordRate

// Colours of the chart, for its legend too.
var (
	stripColor    = color.RGBA{R: 158, G: 190, B: 226, A: 255}
	estimateColor = color.RGBA{R: 0, G: 158, B: 115, A: 255}
)

// DataRange makes room for whatever is drawn.
func (s noiseStrips) DataRange() (xmin, xmax, ymin, ymax float64) {
	top := 0.0
	reach := func(values ...eval.Number) {
		for _, v := range values {
			if v.Defined() {
				top = max(top, float64(v))
			}
		}
	}
	for _, w := range s {
		reach(w.Rate, w.True)
		if w.Spread != nil {
			reach(eval.Number(w.Spread.Quantiles[4]))
		}
		if w.Estimate != nil {
			reach(w.Estimate.High)
		}
	}
	return 0, max(1.05*top, 1e-6), 0, float64(len(s) - 1)
}

// Plot draws the rows.
func (s noiseStrips) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	x := func(v eval.Number) vg.Length { return toX(float64(v)) }
	for i, w := range s {
		if !w.Rate.Defined() { // it was not estimated
			continue
		}
		y := toY(float64(len(s) - 1 - i))
		line := func(from, to, height vg.Length, style draw.LineStyle) {
			c.StrokeLine2(style, from, y+height, to, y+height)
		}
		if q := w.Spread; q != nil {
			line(x(eval.Number(q.Quantiles[0])), x(eval.Number(q.Quantiles[4])), 0, draw.LineStyle{Color: stripColor,
				Width: vg.Points(1.5)})
			line(x(eval.Number(q.Quantiles[1])), x(eval.Number(q.Quantiles[3])), 0, draw.LineStyle{Color: stripColor,
				Width: vg.Points(6)})
		} else {
			line(toX(0), x(w.Rate), 0, draw.LineStyle{Color: stripColor, Width: vg.Points(6)})
		}
		if e := w.Estimate; e != nil && e.Low.Defined() && e.High.Defined() {
			line(x(e.Low), x(e.High), -vg.Points(5), draw.LineStyle{Color: estimateColor, Width: vg.Points(1.5)})
		}
		if w.True.Defined() {
			c.StrokeLine2(draw.LineStyle{Color: red, Width: vg.Points(1.8)}, x(w.True), y-vg.Points(5), x(w.True),
				y+vg.Points(5))
		}
		c.DrawGlyph(draw.GlyphStyle{Color: blue, Radius: vg.Points(2.4), Shape: draw.CircleGlyph{}},
			vg.Point{X: x(w.Rate), Y: y})
	}
}
