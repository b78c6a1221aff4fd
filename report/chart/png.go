package chart

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
)

// pngScale is how many pixels of a picture one of the drawing has; the library counts in points, 72 to the inch.
const pngScale = 2.5

// writePNG draws with the library's canvas, which panics at what it cannot draw: that is an error here.
func writePNG(w io.Writer, width, height float64, panels []panel) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("chart: cannot be drawn: %v", cause)
		}
	}()
	canvas := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(vg.Length(width), vg.Length(height)),
		vgimg.UseDPI(int(72*pngScale)), vgimg.UseBackgroundColor(color.White))}
	on := &raster{canvas: canvas, height: height, fonts: font.NewCache(liberation.Collection())}
	for i := range panels {
		panels[i].drawOn(on)
	}
	_, err = canvas.WriteTo(w)
	return err
}

// raster is a canvas of the library, whose y grows upwards.
type raster struct {
	canvas vg.Canvas
	height float64
	fonts  *font.Cache
}

func (on *raster) point(p Point) vg.Point {
	return vg.Point{X: vg.Length(p.X), Y: vg.Length(on.height - p.Y)}
}

func (on *raster) outline(points []Point) (path vg.Path) {
	for i, p := range points {
		if i == 0 {
			path.Move(on.point(p))
		} else {
			path.Line(on.point(p))
		}
	}
	return path
}

func (on *raster) path(points []Point, m *Mark) {
	on.canvas.SetColor(m.paint())
	on.canvas.SetLineWidth(vg.Length(m.strokeWidth()))
	on.canvas.SetLineDash(nil, 0)
	if m.Dashed {
		on.canvas.SetLineDash([]vg.Length{vg.Length(dashes[0]), vg.Length(dashes[1])}, 0)
	}
	on.canvas.Stroke(on.outline(points))
}

func (on *raster) rule(from, to Point) {
	on.canvas.SetColor(color.NRGBA{225, 227, 225, 255})
	on.canvas.SetLineWidth(1)
	on.canvas.SetLineDash(nil, 0)
	on.canvas.Stroke(on.outline([]Point{from, to}))
}

func (on *raster) shape(at Point, m *Mark) {
	on.canvas.SetColor(m.paint())
	at.Y += m.Lift
	var path vg.Path
	if m.Shape == Dot {
		centre := on.point(at)
		path.Move(vg.Point{X: centre.X + dotRadius, Y: centre.Y})
		path.Arc(centre, dotRadius, 0, 2*math.Pi)
	} else {
		outline := m.signPath()
		for i := range outline {
			outline[i] = Point{at.X + outline[i].X, at.Y + outline[i].Y}
		}
		path = on.outline(outline)
	}
	path.Close()
	on.canvas.Fill(path)
}

func (on *raster) write(at Point, a anchor, w weight, s string) {
	kind := font.Font{Typeface: "Liberation", Variant: "Sans"}
	ink := onWhite[Ink]
	switch w {
	case strong:
		kind.Weight = 3 // bold
	case faint:
		ink = color.NRGBA{0x59, 0x61, 0x69, 255}
	}
	face := on.fonts.Lookup(kind, textSize)
	p := on.point(at)
	switch a {
	case middle:
		p.X -= face.Width(s) / 2
	case end:
		p.X -= face.Width(s)
	}
	on.canvas.SetColor(ink)
	on.canvas.FillString(face, p, s)
}

// paint is the colour of a mark.
func (m *Mark) paint() color.Color {
	c := onWhite[m.Color]
	if m.Faint {
		c.A = uint8(math.Round(255 * faintShare))
	}
	return c
}
