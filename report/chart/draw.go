package chart

import "unicode/utf8"

// place is a place in the frame as shares of its width and height, from the left and the top.
type place struct{ x, y float64 }

type anchor string

const (
	start  anchor = "start"
	middle anchor = "middle"
	end    anchor = "end"
)

// Lengths in pixels, at text of textSize.
const (
	textSize   = 13.0
	tickDrop   = 19.0 // from the frame to the line of a label below it
	tickGap    = 8.0  // from the frame to a label at its left
	middleDrop = 4.5  // from the middle of a line to its base
	nameRise   = 11.0 // from a row to its name above it
)

// draw draws what lies in the frame and its labels: c is settled. Lengths are in pixels from a place.
func (c *Chart) draw(on *inline) {
	for _, t := range c.X.ticks() {
		x := share(t.at, c.X)
		on.grid(place{x, 0}, place{x, 1})
		on.text(place{x, 1}, 0, tickDrop, middle, true, t.label)
	}
	if c.Rows == nil {
		for _, t := range c.Y.ticks() {
			y := 1 - share(t.at, c.Y)
			on.grid(place{0, y}, place{1, y})
			on.text(place{0, y}, -tickGap, middleDrop, end, true, t.label)
		}
	}
	for i, name := range c.Rows {
		y := share(float64(i), c.Y)
		if c.Above {
			on.text(place{0, y}, 0, -nameRise, start, false, name)
			if i < len(c.Values) {
				on.text(place{1, y}, 0, -nameRise, end, false, c.Values[i])
			}
		} else {
			on.text(place{0, y}, -tickGap, middleDrop, end, false, shortened(name))
		}
	}
	for i := range c.Marks {
		c.mark(on, &c.Marks[i])
	}
}

func (c *Chart) mark(on *inline, m *Mark) {
	places := make([]place, len(m.Points))
	for i, p := range m.Points {
		places[i] = place{share(p.X, c.X), share(p.Y, c.Y)}
		if c.Rows == nil {
			places[i].y = 1 - places[i].y
		}
	}
	switch m.Shape {
	case Line:
		on.line(places, m)
	case Thick, Thin:
		for i := 0; i+1 < len(places); i += 2 {
			on.line(places[i:i+2], m)
		}
	default:
		for _, p := range places {
			on.sign(p, m)
		}
	}
}

// share is the position of a number between the bounds of an axis. A number beyond them is just outside.
func share(v float64, a Axis) float64 { return min(max((v-a.Min)/(a.Max-a.Min), -.02), 1.02) }

// longestName is the length of the names of rows to the left.
const longestName = 18

func shortened(name string) string {
	if utf8.RuneCountInString(name) <= longestName {
		return name
	}
	return string([]rune(name)[:longestName-1]) + "…"
}

// leftRunes is the length of the longest label at the left of the frame.
func (c *Chart) leftRunes() int {
	most := 0
	if c.Rows == nil {
		for _, t := range c.Y.ticks() {
			most = max(most, utf8.RuneCountInString(t.label))
		}
	} else if !c.Above {
		for _, name := range c.Rows {
			most = max(most, utf8.RuneCountInString(shortened(name)))
		}
	}
	return most
}

func (c *Chart) height() float64 {
	switch {
	case c.Rows == nil:
		return 230
	case c.Above:
		return max(60, 50*float64(len(c.Rows)))
	}
	return max(60, 21*float64(len(c.Rows)))
}

// signPath is the outline of a sign around 0; closed ones are filled.
func (m *Mark) signPath() []Point {
	switch m.Shape {
	case Square:
		return []Point{{-4, -4}, {4, -4}, {4, 4}, {-4, 4}}
	case Triangle:
		return []Point{{0, -5}, {5, 4}, {-5, 4}}
	case Diamond:
		return []Point{{0, -6}, {6, 0}, {0, 6}, {-6, 0}}
	case Upright:
		return []Point{{-1, -7}, {1, -7}, {1, 7}, {-1, 7}}
	}
	return nil
}

const dotRadius = 3.2
