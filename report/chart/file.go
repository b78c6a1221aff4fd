package chart

import (
	"io"
	"unicode/utf8"
)

// Lengths of a file in pixels.
const (
	frameWidth = 330.0
	around     = 10.0
	lineHeight = 18.0
	runeWidth  = .58 * textSize // of a usual letter, on the wide side
	keyWidth   = 26.0
)

// Write writes charts into one SVG drawing, with the given number of columns.
func Write(w io.Writer, columns int, charts ...*Chart) error {
	var panels []panel
	columns = max(1, min(columns, len(charts)))
	width, y := 0.0, 0.0
	for first := 0; first < len(charts); first += columns {
		x, tallest, head := 0.0, 0.0, 0.0
		row := len(panels)
		for _, c := range charts[first:min(first+columns, len(charts))] {
			p := newPanel(c)
			p.x, p.y = x, y
			x += p.left + p.width + 2.2*around
			head = max(head, p.head)
			panels = append(panels, p)
		}
		for i := row; i < len(panels); i++ {
			panels[i].head = head // frames stand in line
			tallest = max(tallest, panels[i].fullHeight())
		}
		width, y = max(width, x), y+tallest
	}
	return writeSVG(w, width, y, panels)
}

// panel is a chart with its place on a drawing. left and head are the room to the left of its frame and above it.
type panel struct {
	*Chart
	x, y, left, head, width float64
	keys                    [][]keyEntry // lines of the legend
}

type keyEntry struct {
	Mark
	x float64
}

func newPanel(c *Chart) panel {
	p := panel{Chart: c.settled().niced(), width: frameWidth}
	p.left = around + tickGap + runeWidth*float64(p.leftRunes())
	var line []keyEntry
	x := 0.0
	for _, m := range p.legend() {
		long := keyWidth + runeWidth*float64(utf8.RuneCountInString(m.Name)) + around
		if x > 0 && x+long > p.width {
			p.keys, line, x = append(p.keys, line), nil, 0
		}
		line = append(line, keyEntry{m, x})
		x += long
	}
	if line != nil {
		p.keys = append(p.keys, line)
	}
	p.head = around + lineHeight*float64(1+len(p.keys)) + .4*lineHeight
	if p.Rows == nil && p.Y.Label != "" {
		p.head += lineHeight
	}
	return p
}

func (p *panel) fullHeight() float64 { return p.head + p.height() + tickDrop + lineHeight + around }

type weight int

const (
	plain weight = iota
	faint
	strong
)

// drawOn draws a panel with its title, legend and labels.
func (p *panel) drawOn(on *svg) {
	left, base := p.x+p.left, p.y+around+textSize
	on.write(Point{left, base}, start, strong, p.Title)
	for _, line := range p.keys {
		base += lineHeight
		for _, k := range line {
			m, y := k.Mark, base-middleDrop
			m.Lift = 0
			switch m.Shape {
			case Line, Thick, Thin:
				on.path([]Point{{left + k.x, y}, {left + k.x + keyWidth - 6, y}}, &m)
			default:
				on.shape(Point{left + k.x + (keyWidth-6)/2, y}, &m)
			}
			on.write(Point{left + k.x + keyWidth, base}, start, plain, m.Name)
		}
	}
	f := &frame{svg: on, x: left, y: p.y + p.head, w: p.width, h: p.height()}
	if p.Rows == nil && p.Y.Label != "" {
		on.write(Point{p.x + around, f.y - .7*lineHeight}, start, faint, p.Y.Label)
	}
	p.draw(f)
	on.write(Point{left + p.width/2, f.y + f.h + tickDrop + lineHeight}, middle, faint, p.X.Label)
}

type frame struct {
	*svg
	x, y, w, h float64
}

func (f *frame) at(p place) Point { return Point{f.x + p.x*f.w, f.y + p.y*f.h} }

func (f *frame) line(points []place, m *Mark) {
	path := make([]Point, len(points))
	for i, p := range points {
		path[i] = f.at(p)
		path[i].Y += m.Lift
	}
	f.path(path, m)
}

func (f *frame) grid(from, to place) { f.rule(f.at(from), f.at(to)) }

func (f *frame) sign(at place, m *Mark) { f.shape(f.at(at), m) }

func (f *frame) text(at place, dx, dy float64, a anchor, soft bool, s string) {
	p, w := f.at(at), plain
	if soft {
		w = faint
	}
	f.write(Point{p.X + dx, p.Y + dy}, a, w, s)
}
