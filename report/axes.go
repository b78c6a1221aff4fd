package report

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// Bounds of what is drawn: beyond them the arithmetic of axes runs out of the range of numbers.
const (
	mostDrawn   = 1e300 // of a coordinate
	leastSpan   = 1e-300
	leastShare  = 1e-9 // of a span in its largest end: closer numbers would get the same labels
	wideNumber  = 1e6  // beyond which an axis around one number is wider than 2
	shareAround = .05
)

// drawable are points that have a place: those that are not finite are left out, and huge ones lie at the bound.
func drawable(xys plotter.XYs) plotter.XYs {
	var out plotter.XYs
	for _, p := range xys {
		if finite(p.X) && finite(p.Y) {
			out = append(out, plotter.XY{X: within(p.X), Y: within(p.Y)})
		}
	}
	return out
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func within(x float64) float64 { return min(max(x, -mostDrawn), mostDrawn) }

// settleAxes gives the axes of a panel a span that has ticks, whatever is drawn in it.
func settleAxes(p *plot.Plot) {
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Min, a.Max = span(a.Min, a.Max)
	}
}

// span widens a span that has collapsed; one without any number becomes 0 to 1.
func span(low, high float64) (float64, float64) {
	if !finite(low) || !finite(high) || low > high {
		return 0, 1
	}
	low, high = within(low), within(high)
	largest := max(math.Abs(low), math.Abs(high))
	if high-low >= leastSpan && high-low >= leastShare*largest {
		return low, high
	}
	around := 1.0
	if largest > wideNumber {
		around = shareAround * largest
	}
	return low - around, high + around
}
