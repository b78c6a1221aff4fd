package report

import (
	"fmt"
	"io"
	"math"

	"nmn/report/chart"
)

// SweepPoint is a step of a range test of the learning rate. Loss is comparable between steps: it is the mean
// loss at the start plus the changes of the losses of the batches.
type SweepPoint struct{ LearningRate, Loss, Smoothed float64 }

// LearningRateSweep draws the losses of a range test of the learning rate as SVG, with the rate that it suggests, 0
// for none. Losses beyond the frame, which ends a fall of the loss above its start, are left out.
func LearningRateSweep(w io.Writer, points []SweepPoint, suggested float64) error {
	low, high := shownLosses(points)
	var raw, smoothed []chart.Point
	for _, p := range points {
		x := math.Log10(p.LearningRate)
		if p.Loss >= low && p.Loss <= high {
			raw = append(raw, chart.Point{X: x, Y: p.Loss})
		}
		if p.Smoothed <= high {
			smoothed = append(smoothed, chart.Point{X: x, Y: p.Smoothed})
		}
	}
	c := &chart.Chart{
		Title: "Loss against the learning rate",
		X:     chart.Axis{Label: "learning rate", Decades: true}, Y: chart.Axis{Label: "loss", Min: low, Max: high},
		Marks: []chart.Mark{
			{Name: "batches", Shape: chart.Dot, Color: chart.Grey, Faint: true, Points: raw},
			{Name: "smoothed", Shape: chart.Line, Color: chart.Blue, Points: smoothed},
		},
	}
	if suggested > 0 {
		x := math.Log10(suggested)
		c.Marks = append(c.Marks, chart.Mark{Name: fmt.Sprintf("suggested: %.2g", suggested), Shape: chart.Line,
			Color: chart.Red, Dashed: true, Points: []chart.Point{{X: x, Y: low}, {X: x, Y: high}}})
	}
	return chart.Write(w, 1, c)
}

// shownLosses leaves what grows out of bounds outside of the frame: a fall of the loss above its start.
func shownLosses(points []SweepPoint) (low, high float64) {
	if len(points) == 0 {
		return 0, 1
	}
	low, high = points[0].Smoothed, points[0].Smoothed
	for _, p := range points {
		low = min(low, p.Smoothed)
	}
	fall := max(high-low, math.Abs(high)/20)
	return low - fall/4, high + fall
}
