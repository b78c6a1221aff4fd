package picture

import "nmn/kernels/simd"

// antialias is the memory of FilterAntialias and FilterBicubic. Rows of the picture are resized along x when they are
// first needed, four at a time and rounded to 8 bits, as Pillow does; those that the next rows of the result need are
// kept.
type antialias struct {
	columns, rows simd.Reduction
	window        []uint8 // held rows of stride bytes, from row top of the picture on
	stride        int
	top, held     int
	last          []uint8 // the last rows of the picture, with room after them
}

// smooths reports whether a pixel of a smaller picture is a mean of all that it covers.
func (f Filter) smooths() bool { return f == FilterAntialias || f == FilterBicubic }

// cubic chooses between cubic curves and triangles.
func (a *antialias) cubic(yes bool) { a.columns.Cubic, a.rows.Cubic = yes, yes }

// takesAntialias reports whether the size of a picture is within the tables' limit.
func takesAntialias(pic *Picture) bool { return max(pic.Width, pic.Height) <= simd.MaxReduction }

// scale writes pic with width×height pixels into the top left corner of the canvas, whose rows have stride pixels.
func (a *antialias) scale(level simd.Level, canvas []uint8, stride int, pic *Picture, width, height int) {
	a.columns.Plan(pic.Width, width)
	a.rows.Plan(pic.Height, height)
	a.reset(width)
	for y := range height {
		first, count := a.rows.At(y)
		a.hold(level, pic, first, count)
		from := a.window[(first-a.top)*a.stride:]
		level.ReduceColumns(canvas[3*stride*y:3*(stride*y+width)], from, a.stride, &a.rows, y)
	}
}

// reset makes the window for rows of width pixels: twice as many as a row of the result needs, so that few are moved.
func (a *antialias) reset(width int) {
	const block, spare = 4, 1 // rows that come together, and one that may be read without being there
	most := 0
	for y := range a.rows.Len() {
		_, count := a.rows.At(y)
		most = max(most, count)
	}
	a.stride, a.top, a.held = 3*width+1, 0, 0
	if n := (2*(most+block) + spare) * a.stride; cap(a.window) < n {
		a.window = make([]uint8, n)
	} else {
		a.window = a.window[:n]
	}
}

// hold sees to it that count rows of the picture from the first on are in the window. The first never goes back.
func (a *antialias) hold(level simd.Level, pic *Picture, first, count int) {
	for a.top+a.held < first+count {
		if next := a.top + a.held; first > next { // rows between are not needed
			a.top, a.held = first, 0
		}
		if (a.held+5)*a.stride > len(a.window) { // moving rows up makes room
			drop := first - a.top
			copy(a.window, a.window[drop*a.stride:a.held*a.stride])
			a.top, a.held = first, a.held-drop
		}
		at := a.top + a.held
		rows := min(4, pic.Height-at)
		level.ReduceRows(a.window[a.held*a.stride:], a.stride, a.source(pic, at, rows), 3*pic.Width, &a.columns)
		a.held += rows
	}
}

// source returns four rows of a picture, followed by as many bytes as may be read; bytes after its last row
// are arbitrary.
func (a *antialias) source(pic *Picture, y, rows int) []uint8 {
	width := 3 * pic.Width
	need := 3*width + a.columns.Reach()
	if from := pic.Pix[width*y:]; len(from) >= need {
		return from[:need]
	}
	if cap(a.last) < need+width {
		a.last = make([]uint8, need+width)
	}
	a.last = a.last[:max(need, 4*width)]
	copy(a.last, pic.Pix[width*y:width*(y+rows)])
	return a.last
}
