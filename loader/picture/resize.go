package picture

import (
	"fmt"
	"math"

	"nmn/kernels/simd"
)

// Fit is how a picture of any size gets onto the square canvas of the network.
type Fit string

const (
	// FitLongest scales the longest side to the canvas, keeps the proportions, and puts the picture
	// into the top left corner. The rest of the canvas is no part of the picture.
	FitLongest Fit = "longest"
	// FitSquare stretches both sides to the canvas.
	FitSquare Fit = "square"
	// FitNone takes pictures that have the size of the canvas already and refuses others.
	FitNone Fit = "none"
)

// Validate refuses a name that is no way to fit.
func (f Fit) Validate() error {
	switch f {
	case FitLongest, FitSquare, FitNone:
		return nil
	}
	return fmt.Errorf("fit %q is unknown; choose %q, %q or %q", f, FitLongest, FitSquare, FitNone)
}

// extent returns the size that a picture takes on a canvas of size×size pixels. With FitLongest it
// is max(1, d·size/longest) for each side d, rounded to nearest and halves to even.
func (f Fit) extent(width, height, size int) (w, h int, err error) {
	switch f {
	case FitSquare:
		return size, size, nil
	case FitNone:
		if width != size || height != size {
			return 0, 0, fmt.Errorf(
				"a picture of %d×%d pixels does not have the size %d×%d of the canvas; fit it by %q or %q",
				width, height, size, size, FitLongest, FitSquare)
		}
		return size, size, nil
	}
	scale := float64(size) / float64(max(width, height))
	side := func(d int) int { return max(1, int(math.RoundToEven(float64(d)*scale))) }
	return side(width), side(height), nil
}

// A Resizer puts pictures on a canvas. It keeps its tables and rows from one picture to the next, so
// that a picture of a size seen last costs no memory. Not safe for concurrent use.
type Resizer struct {
	Filter        Filter // the zero value is FilterBilinear
	level         simd.Level
	antialias     antialias
	columns, rows simd.Taps
	whole         []uint8     // a picture whose middle Prepare takes
	cache         [2][]uint32 // the two source rows resized along x that were used last
	cached        [2]int      // which rows they are, -1 for none
}

// NewResizer makes a Resizer. The level changes no picture; the zero Resizer computes in Go.
func NewResizer(level simd.Level) *Resizer { return &Resizer{level: level} }

// Place resizes pic by fit onto canvas, RGB of size×size pixels, clears the rest of it to zero, and returns
// the valid extent in pixels.
//
// Interpolation is bilinear between pixel centres at half-integer positions. With FilterAntialias and
// FilterBicubic pixels equal the output of Pillow that resizes along x first, but a picture with a side of more
// than 2^20 pixels gets the other filter. FilterBilinear does not smooth when it shrinks:
// torch.nn.functional.interpolate(mode="bilinear", align_corners=False). Its result is rounded to the nearest
// integer, halves up. Weights have 14 bits, so a value may differ from the exact one by .02 more than
// rounding does.
func (r *Resizer) Place(canvas []uint8, size int, pic *Picture, fit Fit) (width, height int, err error) {
	if err := checkPlace(canvas, size, pic); err != nil {
		return 0, 0, err
	}
	width, height, err = fit.extent(pic.Width, pic.Height, size)
	if err != nil {
		return 0, 0, err
	}
	if width == pic.Width && height == pic.Height {
		for y := range height {
			copy(canvas[3*size*y:], pic.Pix[3*width*y:3*width*(y+1)])
		}
	} else {
		r.resize(canvas, size, pic, r.Filter, width, height)
	}
	for y := range height {
		clear(canvas[3*(size*y+width) : 3*size*(y+1)])
	}
	clear(canvas[3*size*height:])
	return width, height, nil
}

// checkPlace refuses memory that does not have the size of its canvas or its picture.
func checkPlace(canvas []uint8, size int, pic *Picture) error {
	if len(canvas) != size*size*3 {
		return fmt.Errorf("resize: a canvas of %d bytes does not hold %d×%d pixels of 3 bytes", len(canvas), size, size)
	}
	if pic.Width < 1 || pic.Height < 1 || len(pic.Pix) != pic.Width*pic.Height*3 {
		return fmt.Errorf("resize: a picture of %d×%d pixels with %d bytes", pic.Width, pic.Height, len(pic.Pix))
	}
	return nil
}

// resize writes pic with width×height pixels by a filter into the top left corner of the canvas, whose rows have stride
// pixels.
func (r *Resizer) resize(canvas []uint8, stride int, pic *Picture, filter Filter, width, height int) {
	if filter.smooths() && takesAntialias(pic) {
		r.antialias.cubic(filter == FilterBicubic)
		r.antialias.scale(r.level, canvas, stride, pic, width, height)
		return
	}
	r.scale(canvas, stride, pic, width, height)
}

// scale writes pic with width×height pixels into the top left corner of the canvas.
func (r *Resizer) scale(canvas []uint8, stride int, pic *Picture, width, height int) {
	r.columns.Plan(pic.Width, width)
	r.rows.Plan(pic.Height, height)
	r.cached = [2]int{-1, -1}
	for y := range height {
		first, second, weight := r.rows.At(y)
		near := r.row(pic, first, -1)
		far := r.row(pic, second, first)
		r.level.BlendRows(canvas[3*stride*y:3*(stride*y+width)], near, far, weight)
	}
}

// row returns source row y resized along x, from the cache if it is there. Rows are requested in ascending
// order, so any cached row other than keep may be replaced.
func (r *Resizer) row(pic *Picture, y, keep int) []uint32 {
	for i, cached := range r.cached {
		if cached == y {
			return r.cache[i]
		}
	}
	slot := 0
	if r.cached[0] == keep {
		slot = 1
	}
	n := 3 * r.columns.Len()
	if cap(r.cache[slot]) < n {
		r.cache[slot] = make([]uint32, n)
	}
	r.cache[slot], r.cached[slot] = r.cache[slot][:n], y
	r.level.ResampleRow(r.cache[slot], pic.Pix[3*pic.Width*y:3*pic.Width*(y+1)], &r.columns)
	return r.cache[slot]
}

// Filter selects how pixels are interpolated when a picture is resized.
type Filter string

const (
	// FilterAntialias averages over all pixels of the picture that a pixel of the result covers. It is the
	// filter BILINEAR of the Python library Pillow, which torchvision's Resize takes by default. Pixels equal
	// the output of Pillow that resizes along x first, as all versions earlier than 13 do. When it enlarges a
	// picture it interpolates between two neighbours, as FilterBilinear does, and may differ from
	// FilterBilinear by the rounding between x and y.
	FilterAntialias Filter = "antialias"
	// FilterBicubic is Pillow's BICUBIC in the same way: cubic curves (a = -1/2) over twice as many pixels, which keep
	// edges sharper.
	FilterBicubic Filter = "bicubic"
	// FilterBilinear interpolates between two neighbours even if a picture shrinks, and skips the pixels
	// between: torch.nn.functional.interpolate(mode="bilinear"). The zero value of a Filter means the same.
	FilterBilinear Filter = "bilinear"
)

// Filters lists all filters.
func Filters() []Filter { return []Filter{FilterAntialias, FilterBicubic, FilterBilinear} }

// Validate refuses a name that is no filter; the empty one is FilterBilinear.
func (f Filter) Validate() error {
	switch f {
	case "", FilterAntialias, FilterBicubic, FilterBilinear:
		return nil
	}
	return fmt.Errorf("resize %q is unknown; choose %q, %q or %q", f, FilterAntialias, FilterBicubic, FilterBilinear)
}
