package loader

import (
	"fmt"
	"math"
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
			return 0, 0, fmt.Errorf("a picture of %d×%d pixels does not have the size %d×%d of the canvas; fit it by %q or %q",
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
	columns, rows taps
	cache         [2][]uint32 // the two source rows resized along x that were used last
	cached        [2]int      // which rows they are, -1 for none
}

// Place resizes pic as fit says onto canvas, RGB of size×size pixels, clears the rest of it to
// zero, and returns the valid extent in pixels.
//
// Interpolation is bilinear between pixel centres at half-integer positions, without smoothing when
// it shrinks: torch.nn.functional.interpolate(mode="bilinear", align_corners=False). The result is
// rounded to the nearest integer, halves up; weights have 14 bits, so that a value may differ from
// the exact one by .02 more than rounding does.
func (r *Resizer) Place(canvas []uint8, size int, pic *Picture, fit Fit) (width, height int, err error) {
	if len(canvas) != size*size*3 {
		return 0, 0, fmt.Errorf("resize: a canvas of %d bytes does not hold %d×%d pixels of 3 bytes", len(canvas), size, size)
	}
	if pic.Width < 1 || pic.Height < 1 || len(pic.Pix) != pic.Width*pic.Height*3 {
		return 0, 0, fmt.Errorf("resize: a picture of %d×%d pixels with %d bytes", pic.Width, pic.Height, len(pic.Pix))
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
		r.scale(canvas, size, pic, width, height)
	}
	for y := range height {
		clear(canvas[3*(size*y+width) : 3*size*(y+1)])
	}
	clear(canvas[3*size*height:])
	return width, height, nil
}

// scale writes pic with width×height pixels into the top left corner of the canvas.
func (r *Resizer) scale(canvas []uint8, stride int, pic *Picture, width, height int) {
	r.columns.plan(pic.Width, width)
	r.rows.plan(pic.Height, height)
	r.cached = [2]int{-1, -1}
	for y := range height {
		near := r.row(pic, int(r.rows.first[y]), -1)
		far := r.row(pic, int(r.rows.second[y]), int(r.rows.first[y]))
		blendRows(canvas[3*stride*y:3*(stride*y+width)], near, far, uint64(r.rows.weight[y]))
	}
}

// row returns source row y resized along x, from the cache where it is there. Rows are asked for in
// ascending order, so that any cached row other than keep may go.
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
	n := 3 * len(r.columns.first)
	if cap(r.cache[slot]) < n {
		r.cache[slot] = make([]uint32, n)
	}
	r.cache[slot], r.cached[slot] = r.cache[slot][:n], y
	r.columns.resizeRow(r.cache[slot], pic.Pix[3*pic.Width*y:3*pic.Width*(y+1)])
	return r.cache[slot]
}

// weightBits is the precision of interpolation weights: a channel times a weight for each axis has
// 8 + 2·14 bits.
const weightBits = 14

// taps says, for every position along an axis of the result, which two source positions it lies
// between, and the weight of the second in units of 2^-14.
type taps struct {
	from          int // source length that the table was made for
	first, second []int32
	weight        []uint32
}

func (t *taps) plan(from, to int) {
	if t.from == from && len(t.first) == to {
		return
	}
	if cap(t.first) < to {
		t.first, t.second, t.weight = make([]int32, to), make([]int32, to), make([]uint32, to)
	}
	t.from, t.first, t.second, t.weight = from, t.first[:to], t.second[:to], t.weight[:to]
	scale := float64(from) / float64(to)
	for i := range to {
		at := max(0, float64(scale*(float64(i)+.5))-.5)
		first := min(int(at), from-1)
		t.first[i], t.second[i] = int32(first), int32(min(first+1, from-1))
		t.weight[i] = uint32(math.Round((at - float64(first)) * (1 << weightBits)))
	}
}

// resizeRow interpolates a row of RGB along x; results are in units of 2^-14.
func (t *taps) resizeRow(result []uint32, row []uint8) {
	second, weight := t.second[:len(t.first)], t.weight[:len(t.first)]
	for i, first := range t.first {
		w := weight[i]
		a, b := row[3*first:][:3], row[3*second[i]:][:3]
		out := result[3*i:][:3]
		out[0] = uint32(a[0])*(1<<weightBits-w) + uint32(b[0])*w
		out[1] = uint32(a[1])*(1<<weightBits-w) + uint32(b[1])*w
		out[2] = uint32(a[2])*(1<<weightBits-w) + uint32(b[2])*w
	}
}

// blendRows interpolates between two resized rows and rounds to 8 bits.
func blendRows(result []uint8, near, far []uint32, weight uint64) {
	near, far = near[:len(result)], far[:len(result)]
	const half = 1 << (2*weightBits - 1)
	rest := 1<<weightBits - weight
	for i := range result {
		result[i] = uint8((uint64(near[i])*rest + uint64(far[i])*weight + half) >> (2 * weightBits))
	}
}
