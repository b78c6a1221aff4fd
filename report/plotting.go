package report

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"nmn/text"
)

// pngResolution is in dots per inch.
const pngResolution = 200

// newPlot makes an empty panel with a light grid.
func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = 2 * vg.Millimeter
	p.X.Label.Padding, p.Y.Label.Padding = vg.Millimeter, vg.Millimeter
	p.X.Padding, p.Y.Padding = 0, 0
	p.Title.TextStyle.Font.Size = vg.Points(11)
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font.Size = vg.Points(10)
		axis.Tick.Label.Font.Size = vg.Points(9)
		axis.Tick.Marker = ticks{}
	}
	p.Legend.TextStyle.Font.Size = vg.Points(9)
	p.Legend.Padding = vg.Millimeter
	p.Legend.ThumbnailWidth = 8 * vg.Millimeter
	grid := plotter.NewGrid()
	light := color.Gray{Y: 225}
	grid.Horizontal.Color, grid.Vertical.Color = light, light
	p.Add(grid)
	return p
}

// palette is for the stages of a run and for parts of speech, told apart by the colour-blind too (Okabe and
// Ito).
var palette = [text.POSCount]color.RGBA{
	blue, red, {R: 0, G: 158, B: 115, A: 255}, {R: 204, G: 121, B: 167, A: 255}, {R: 230, G: 159, B: 0, A: 255},
	{R: 86, G: 180, B: 233, A: 255}, {R: 130, G: 130, B: 130, A: 255},
}

func addDots(p *plot.Plot, xys plotter.XYs, c color.Color) error {
	if xys = drawable(xys); len(xys) == 0 {
		return nil
	}
	dots, err := plotter.NewScatter(xys)
	if err != nil {
		return fmt.Errorf("report: points: %w", err)
	}
	dots.GlyphStyle = draw.GlyphStyle{Color: c, Radius: vg.Points(2.2), Shape: draw.CircleGlyph{}}
	p.Add(dots)
	return nil
}

// legendRoom is behind the names of a legend: a reader's font may be wider than the one that they are
// measured with.
const legendRoom = "   "

// placeLegend puts the legend into a corner of the panel, clear of the axes.
func placeLegend(p *plot.Plot, top, left bool) {
	const gap = 2 * vg.Millimeter
	p.Legend.Top, p.Legend.Left = top, left
	p.Legend.XOffs, p.Legend.YOffs = -gap, gap
	if left {
		p.Legend.XOffs = gap
	}
	if top {
		p.Legend.YOffs = -gap
	}
}

// legendPanel is a panel for a legend alone, where curves leave no room for one.
func legendPanel() *plot.Plot {
	p := plot.New()
	p.HideAxes()
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
	p.Legend.TextStyle.Font.Size = vg.Points(10)
	p.Legend.Padding, p.Legend.ThumbnailWidth = vg.Millimeter, 10*vg.Millimeter
	placeLegend(p, true, true)
	return p
}

// ticks are those of the library with as many decimals as tell them apart.
type ticks struct{ plot.DefaultTicks }

func (t ticks) Ticks(least, most float64) []plot.Tick {
	all := t.DefaultTicks.Ticks(least, most)
	for decimals := 1; decimals <= 6 && repeats(all); decimals++ {
		for i := range all {
			if !all[i].IsMinor() {
				all[i].Label = strconv.FormatFloat(all[i].Value, 'f', decimals, 64)
			}
		}
	}
	return all
}

// repeats reports whether two labels are the same.
func repeats(all []plot.Tick) bool {
	seen := map[string]bool{}
	for _, t := range all {
		if !t.IsMinor() && seen[t.Label] {
			return true
		}
		seen[t.Label] = true
	}
	return false
}

func addLine(p *plot.Plot, name string, xys plotter.XYs, c color.Color, dashed bool) error {
	if xys = drawable(xys); len(xys) == 0 {
		return nil
	}
	line, err := plotter.NewLine(xys)
	if err != nil {
		return fmt.Errorf("report: curve %q: %w", name, err)
	}
	line.LineStyle = lineStyle(c, dashed)
	p.Add(line)
	if name != "" {
		p.Legend.Add(name+legendRoom, line)
	}
	return nil
}

func lineStyle(c color.Color, dashed bool) draw.LineStyle {
	style := draw.LineStyle{Color: c, Width: vg.Points(1.6)}
	if dashed {
		style.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
	}
	return style
}

// drawPanels draws plots side by side with their axes aligned, as "svg" or "png".
func drawPanels(w io.Writer, format string, panels ...*plot.Plot) error {
	return drawGrid(w, format, [][]*plot.Plot{panels})
}

// drawGrid draws rows of plots, all of one length; nil leaves a place empty.
func drawGrid(w io.Writer, format string, rows [][]*plot.Plot) error {
	return drawSized(w, format, vg.Point{X: panelWidth * vg.Length(len(rows[0])),
		Y: panelHeight * vg.Length(len(rows))}, rows)
}

// drawSized is the same at a size of the whole. The library panics at what it cannot draw: that is an error here.
func drawSized(w io.Writer, format string, size vg.Point, rows [][]*plot.Plot) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("report: a figure cannot be drawn: %v", cause)
		}
	}()
	for _, row := range rows {
		for _, p := range row {
			if p != nil {
				settleAxes(p)
			}
		}
	}
	width, height := size.X, size.Y
	switch format {
	case "svg":
		canvas := vgsvg.New(width, height)
		drawOn(canvas, rows)
		var b bytes.Buffer
		if _, err := canvas.WriteTo(&b); err != nil {
			return err
		}
		// A reader without the font falls back to another serif instead of the browser's default.
		_, err := w.Write(bytes.ReplaceAll(b.Bytes(), []byte("Liberation Serif;"),
			[]byte("Liberation Serif,Times New Roman,serif;")))
		return err
	case "png":
		canvas := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(pngResolution))}
		drawOn(canvas, rows)
		_, err := canvas.WriteTo(w)
		return err
	}
	return fmt.Errorf("report: unknown figure format %q, want svg or png", format)
}

func drawOn(canvas vg.CanvasSizer, rows [][]*plot.Plot) {
	whole := draw.New(canvas)
	whole.FillPolygon(color.White, []vg.Point{whole.Min, {X: whole.Max.X, Y: whole.Min.Y}, whole.Max,
		{X: whole.Min.X, Y: whole.Max.Y}})
	tiles := draw.Tiles{
		Rows: len(rows), Cols: len(rows[0]), PadX: 6 * vg.Millimeter, PadY: 4 * vg.Millimeter,
		PadTop: 2 * vg.Millimeter, PadBottom: 2 * vg.Millimeter, PadLeft: 2 * vg.Millimeter,
		PadRight: 4 * vg.Millimeter,
	}
	for i, row := range plot.Align(rows, tiles, whole) {
		for j, c := range row {
			if rows[i][j] != nil {
				rows[i][j].Draw(c)
			}
		}
	}
}
