package chart

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// fonts are the browser's own, without serifs, as on the pages.
const fonts = `system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', 'Liberation Sans', sans-serif`

func writeSVG(w io.Writer, width, height float64, panels []panel) error {
	var b strings.Builder
	fmt.Fprintf(&b, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"+
		`<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %[1]g %[2]g" role="img" `+
		`font-family="%s" font-size="%g">`+"\n", rounded(width), rounded(height), fonts, textSize)
	var titles, summaries []string
	for _, p := range panels {
		titles = append(titles, p.Title)
		if p.Summary != "" && !slices.Contains(summaries, p.Summary) {
			summaries = append(summaries, p.Summary)
		}
	}
	fmt.Fprintf(&b, "<title>%s</title>\n<desc>%s</desc>\n", escaped(strings.Join(titles, "; ")),
		escaped(strings.Join(summaries, " ")))
	b.WriteString(`<rect width="100%" height="100%" fill="#fff"/>` + "\n")
	for i := range panels {
		panels[i].drawOn(&svg{&b})
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// svg is a drawing in pixels from the top left.
type svg struct{ b *strings.Builder }

func (on *svg) path(points []Point, m *Mark) {
	on.b.WriteString(`<polyline fill="none" stroke-linejoin="round"`)
	fmt.Fprintf(on.b, ` stroke="%s" stroke-width="%g"`, hex(m.Color), m.strokeWidth())
	if m.Dashed {
		fmt.Fprintf(on.b, ` stroke-dasharray="%g %g"`, dashes[0], dashes[1])
	}
	if m.Faint {
		fmt.Fprintf(on.b, ` stroke-opacity="%g"`, faintShare)
	}
	on.b.WriteString(` points="`)
	for i, p := range points {
		if i > 0 {
			on.b.WriteByte(' ')
		}
		fmt.Fprintf(on.b, "%g,%g", rounded(p.X), rounded(p.Y))
	}
	on.b.WriteString("\"/>\n")
}

func (on *svg) rule(from, to Point) {
	fmt.Fprintf(on.b, `<path stroke="#e1e3e1" d="M%g %gL%g %g"/>`+"\n", rounded(from.X), rounded(from.Y), rounded(to.X),
		rounded(to.Y))
}

func (on *svg) shape(at Point, m *Mark) {
	if m.Shape == Dot {
		fmt.Fprintf(on.b, `<circle fill="%s" cx="%g" cy="%g" r="%g"`, hex(m.Color), rounded(at.X), rounded(at.Y+m.Lift),
			dotRadius)
	} else {
		fmt.Fprintf(on.b, `<path fill="%s" d="%s"`, hex(m.Color), pathOf(m, at))
	}
	if m.Faint {
		fmt.Fprintf(on.b, ` fill-opacity="%g"`, faintShare)
	}
	on.b.WriteString("/>\n")
}

func (on *svg) write(at Point, a anchor, w weight, s string) {
	if s == "" {
		return
	}
	fmt.Fprintf(on.b, `<text x="%g" y="%g" text-anchor="%s" fill="%s"`, rounded(at.X), rounded(at.Y), a, textColor(w))
	if w == strong {
		on.b.WriteString(` font-weight="600"`)
	}
	fmt.Fprintf(on.b, ">%s</text>\n", escaped(s))
}

func hex(c Color) string {
	v := onWhite[c]
	return fmt.Sprintf("#%02x%02x%02x", v.R, v.G, v.B)
}

func textColor(w weight) string {
	if w == faint {
		return "#596169"
	}
	return hex(Ink)
}
