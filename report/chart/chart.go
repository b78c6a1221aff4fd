// Package chart draws small charts into pages, with the font and size of the page at every width.
package chart

import (
	"math"
	"slices"
)

// Chart is a frame with two axes and what lies in it.
type Chart struct {
	Title   string
	Summary string // what there is to see, in a sentence, for people who do not see it
	X, Y    Axis
	// Rows are names from the top to the bottom. Row i is at y = i, and the axis Y is not used. Nil if y is a number.
	Rows   []string
	Above  bool     // puts the names of rows above them instead of to their left, so that they may be long
	Values []string // at the right end above rows with names above them; nil for none
	Marks  []Mark   // the later lie above the earlier
}

// Axis is the scale of a direction. Without bounds, both 0, it holds all marks.
type Axis struct {
	Label    string
	Min, Max float64
	Step     float64 // between ticks; 0 leaves it to the chart
}

// Mark is a line, or are signs of one kind.
type Mark struct {
	Name   string // in the legend, where marks of one name share an entry; empty leaves it out
	Shape  Shape
	Color  Color
	Dashed bool // lines
	Faint  bool // drawn with less opacity
	Points []Point
	Lift   float64 // pixels that it lies below its place, to keep clear of other marks of a row
}

// Point is a place on the axes. Points that are not finite are left out.
type Point struct{ X, Y float64 }

// Shape is the shape of a mark.
type Shape int

// The shapes. Line joins its points; Thick and Thin join pairs of points, as intervals of a row; the others are signs.
const (
	Line Shape = iota
	Thick
	Thin
	Dot
	Square
	Triangle
	Diamond
	Upright
)

// Color is one of a palette that colour-blind readers can distinguish, in light and dark.
type Color int

// The palette, after Okabe and Ito (htmlpage/chart.css).
const (
	Blue Color = iota
	Red
	Green
	Purple
	Orange
	Sky
	Grey
	Ink // that of the text
)

// Colors is the number of colours for series.
const Colors = int(Ink)

// Bounds of drawings. Beyond them the arithmetic of axes overflows.
const (
	mostDrawn  = 1e300 // of a coordinate
	mostPoints = 1500  // of a line: more than pixels show nothing more
)

// settled is the chart with its axes resolved, and with the points alone that have a place.
func (c *Chart) settled() *Chart {
	s := *c
	s.Marks = nil
	for _, m := range c.Marks {
		m.Points = drawable(m.Points, m.Shape)
		if len(m.Points) > 0 {
			s.Marks = append(s.Marks, m)
		}
	}
	s.X = s.axis(c.X, func(p Point) float64 { return p.X })
	if c.Rows != nil {
		s.Y = Axis{Min: -.5, Max: float64(len(c.Rows)) - .5}
	} else {
		s.Y = s.axis(c.Y, func(p Point) float64 { return p.Y })
	}
	return &s
}

// axis finds missing bounds, and widens bounds that are equal.
func (c *Chart) axis(a Axis, of func(Point) float64) Axis {
	if a.Min == 0 && a.Max == 0 {
		a.Min, a.Max = math.Inf(1), math.Inf(-1)
		for _, m := range c.Marks {
			for _, p := range m.Points {
				a.Min, a.Max = min(a.Min, of(p)), max(a.Max, of(p))
			}
		}
	}
	a.Min, a.Max = span(a.Min, a.Max)
	return a
}

// Empty reports whether no mark has a place.
func (c *Chart) Empty() bool { return len(c.settled().Marks) == 0 }

// drawable returns the points that can be drawn. Points that are not finite are left out, together with their
// partner in a pair. Huge ones are moved to the bound.
func drawable(points []Point, shape Shape) []Point {
	var out []Point
	pairs := shape == Thick || shape == Thin
	for i, p := range points {
		if pairs && (i|1 >= len(points) || !finite(points[i^1].X) || !finite(points[i^1].Y)) {
			continue
		}
		if finite(p.X) && finite(p.Y) {
			out = append(out, Point{within(p.X), within(p.Y)})
		}
	}
	if shape == Line && len(out) > mostPoints {
		every, last := (len(out)+mostPoints-1)/mostPoints, out[len(out)-1]
		thin := out[:0:0]
		for i := 0; i < len(out)-1; i += every {
			thin = append(thin, out[i])
		}
		out = append(thin, last)
	}
	return out
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func within(x float64) float64 { return min(max(x, -mostDrawn), mostDrawn) }

// legend returns the first mark of each name, in their order.
func (c *Chart) legend() []Mark {
	var out []Mark
	for _, m := range c.Marks {
		if m.Name != "" && !slices.ContainsFunc(out, func(o Mark) bool { return o.Name == m.Name }) {
			out = append(out, m)
		}
	}
	return out
}
