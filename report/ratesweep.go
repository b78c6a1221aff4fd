package report

import (
	"fmt"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// SweepPoint is a step of a range test of the learning rate.
type SweepPoint struct{ Rate, Loss, Smoothed float64 }

// RateSweep draws the losses of a range test of the learning rate as "svg" or "png", with the rate that it suggests, 0
// for none.
func RateSweep(w io.Writer, format string, points []SweepPoint, suggested float64) error {
	p := newPlot("Loss against the learning rate", "learning rate", "loss")
	placeLegend(p, true, true)
	var raw, smoothed plotter.XYs
	for _, point := range points {
		x := math.Log10(point.Rate)
		raw = append(raw, plotter.XY{X: x, Y: point.Loss})
		smoothed = append(smoothed, plotter.XY{X: x, Y: point.Smoothed})
	}
	if err := addDots(p, raw, palette[len(palette)-1]); err != nil {
		return err
	}
	if err := addLine(p, "smoothed", smoothed, blue, false); err != nil {
		return err
	}
	low, high := shownLosses(smoothed)
	if suggested > 0 {
		x := math.Log10(suggested)
		at := plotter.XYs{{X: x, Y: low}, {X: x, Y: high}}
		if err := addLine(p, fmt.Sprintf("suggested: %.2g", suggested), at, red, true); err != nil {
			return err
		}
	}
	p.Y.Min, p.Y.Max = low, high
	p.X.Tick.Marker = decades{}
	return drawSized(w, format, vg.Point{X: 2 * panelWidth, Y: panelHeight}, [][]*plot.Plot{{p}})
}

// shownLosses leaves what grows out of bounds outside of the frame: twice the fall above the start.
func shownLosses(smoothed plotter.XYs) (low, high float64) {
	if len(smoothed) == 0 {
		return 0, 1
	}
	low, high = smoothed[0].Y, smoothed[0].Y
	for _, p := range smoothed {
		low = min(low, p.Y)
	}
	fall := max(high-low, math.Abs(high)/20)
	return low - fall/4, high + fall
}

// decades marks powers of ten on an axis of their logarithms.
type decades struct{}

// Ticks implements plot.Ticker.
func (decades) Ticks(least, most float64) (all []plot.Tick) {
	for e := math.Ceil(least); e <= most; e++ {
		all = append(all, plot.Tick{Value: e, Label: fmt.Sprintf("1e%.0f", e)})
	}
	return all
}
