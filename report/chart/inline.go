package chart

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"nmn/internal/visible"
)

// Inline returns the chart as a part of a page. Title, legend and labels of axes are text of the page. The
// labels of ticks have the font and size of the page at every width. The style of the page defines the
// classes. No other element of the page may have the id.
func (c *Chart) Inline(id string) template.HTML {
	s := c.settled().niced()
	var b strings.Builder
	fmt.Fprintf(&b, `<p class="chart-title">%s</p>`, escaped(s.Title))
	b.WriteString(s.key())
	if s.Rows == nil && s.Y.Label != "" {
		fmt.Fprintf(&b, `<p class="chart-y">%s</p>`, escaped(s.Y.Label))
	}
	fmt.Fprintf(&b, `<div class="frame" style="padding-left:%grem">`+
		`<svg role="img" aria-labelledby="%[2]s-t %[2]s-d" style="height:%[3]gem">`+
		`<title id="%[2]s-t">%[4]s</title><desc id="%[2]s-d">%[5]s</desc>`, rounded(s.leftRoom()), escaped(id),
		rounded(s.height()/textSize), escaped(s.Title), escaped(s.Summary))
	s.draw(&inline{&b})
	b.WriteString(`</svg></div>`)
	if s.X.Label != "" {
		fmt.Fprintf(&b, `<p class="chart-x">%s</p>`, escaped(s.X.Label))
	}
	return template.HTML(b.String())
}

// leftRoom is the room for labels at the left of the frame, in the page's unit of text.
func (c *Chart) leftRoom() float64 {
	if n := c.leftRunes(); n > 0 {
		return .7 + .55*float64(n)
	}
	return .4
}

func (c *Chart) niced() *Chart {
	if c.Rows == nil {
		same := c.X.Min == c.Y.Min && c.X.Max == c.Y.Max
		c.Y = c.Y.nice()
		if same { // what both axes measure alike has the same ends
			c.X = c.X.nice()
		}
	}
	return c
}

// key is the legend as a list, with a drawing of each mark.
func (c *Chart) key() string {
	entries := c.legend()
	if len(entries) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(`<ul class="key">`)
	for i := range entries {
		m := entries[i]
		m.Lift = 0
		b.WriteString(`<li><svg aria-hidden="true">`)
		on := &inline{&b}
		switch m.Shape {
		case Line, Thick, Thin:
			on.line([]place{{0, .5}, {1, .5}}, &m)
		default:
			on.sign(place{.5, .5}, &m)
		}
		fmt.Fprintf(&b, `</svg>%s</li>`, escaped(m.Name))
	}
	b.WriteString(`</ul>`)
	return b.String()
}

// inline writes SVG whose places are shares of an element that is as wide as the page lets it be.
type inline struct{ b *strings.Builder }

func (on *inline) line(points []place, m *Mark) {
	class := fmt.Sprintf(`class="%s"`, m.class("line"))
	if len(points) == 2 {
		fmt.Fprintf(on.b, `<line %s x1="%s" y1="%s" x2="%s" y2="%s"`, class, percent(points[0].x), percent(points[0].y),
			percent(points[1].x), percent(points[1].y))
		if m.Lift != 0 {
			fmt.Fprintf(on.b, ` transform="translate(0 %g)"`, m.Lift)
		}
		on.b.WriteString(`/>`)
		return
	}
	// The inner drawing is stretched to the frame; its strokes are not.
	fmt.Fprintf(on.b, `<svg class="stretched" viewBox="0 0 1000 1000" preserveAspectRatio="none"><polyline %s points="`,
		class)
	for i, p := range points {
		if i > 0 {
			on.b.WriteByte(' ')
		}
		fmt.Fprintf(on.b, "%g,%g", rounded(1000*p.x), rounded(1000*p.y))
	}
	on.b.WriteString(`"/></svg>`)
}

func (on *inline) grid(from, to place) {
	fmt.Fprintf(on.b, `<line class="grid" x1="%s" y1="%s" x2="%s" y2="%s"/>`, percent(from.x), percent(from.y),
		percent(to.x), percent(to.y))
}

func (on *inline) sign(at place, m *Mark) {
	if m.Shape == Dot {
		fmt.Fprintf(on.b, `<circle class="%s" cx="%s" cy="%s" r="%g"`, m.class("sign"), percent(at.x), percent(at.y),
			dotRadius)
		if m.Lift != 0 {
			fmt.Fprintf(on.b, ` transform="translate(0 %g)"`, m.Lift)
		}
		on.b.WriteString(`/>`)
		return
	}
	fmt.Fprintf(on.b, `<svg x="%s" y="%s" class="at"><path class="%s" d="%s"/></svg>`, percent(at.x), percent(at.y),
		m.class("sign"), pathOf(m))
}

func (on *inline) text(at place, dx, dy float64, a anchor, soft bool, s string) {
	class := "name"
	if soft {
		class = "tick"
	}
	fmt.Fprintf(on.b, `<text class="%s" x="%s" y="%s" dx="%g" dy="%g" text-anchor="%s">%s</text>`, class, percent(at.x),
		percent(at.y), dx, dy, a, escaped(s))
}

// class are the classes of a mark.
func (m *Mark) class(kind string) string {
	list := []string{kind, "c" + strconv.Itoa(int(m.Color))}
	if m.Shape == Thick {
		list = append(list, "thick")
	}
	if m.Dashed {
		list = append(list, "dashed")
	}
	if m.Faint {
		list = append(list, "faint")
	}
	return strings.Join(list, " ")
}

// pathOf is the outline of a sign around its place, in pixels.
func pathOf(m *Mark) string {
	var b strings.Builder
	for i, p := range m.signPath() {
		command := "L"
		if i == 0 {
			command = "M"
		}
		fmt.Fprintf(&b, "%s%g %g", command, rounded(p.X), rounded(p.Y+m.Lift))
	}
	return b.String() + "Z"
}

func percent(share float64) string { return strconv.FormatFloat(rounded(100*share), 'g', -1, 64) + "%" }

// rounded has two decimals, finer than pixels.
func rounded(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'f', 2, 64), 64)
	return r + 0 // never -0
}

// escaped returns a text as markup, with escapes for invisible characters.
func escaped(s string) string { return template.HTMLEscapeString(visible.Line(s)) }
