package augment

import (
	"math"
)

// affine maps pixel (x, y) to the position of its colour: (a·x + b·y + c, d·x + e·y + f), for centres of
// pixels at half-integer positions.
type affine struct{ a, b, c, d, e, f float64 }

// rotation turns a picture about its middle, against the clock.
func rotation(degrees float64, width, height int) affine {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	x, y := float64(width)/2, float64(height)/2
	// Conversions keep processors from fusing products with sums: all take the same pixels.
	return affine{a: cos, b: -sin, c: x - float64(cos*x) + float64(sin*y),
		d: sin, e: cos, f: y - float64(sin*x) - float64(cos*y)}
}

// transform takes the nearest pixel for each, and the fill colour beyond the picture. Positions are summed up in 16
// bits below the point, as Pillow does.
func (w *Worker) transform(v *view, m affine) {
	const bits = 16
	fixed := func(x float64) int64 { return int64(math.Floor(x*(1<<bits) + .5)) }
	before := v.copyInto(&w.scratch)
	alongX, alongY := fixed(m.a), fixed(m.d)
	downX, downY := fixed(m.b), fixed(m.e)
	startX, startY := fixed(m.c+m.a/2+m.b/2), fixed(m.f+m.d/2+m.e/2)
	width, height := uint64(v.width), uint64(v.height)
	fill := w.mean
	for y := range v.height {
		row := v.row(y)
		atX, atY := startX+int64(y)*downX, startY+int64(y)*downY
		for i := 0; i+2 < len(row); i += 3 {
			x, y := uint64(atX>>bits), uint64(atY>>bits) // huge where negative
			if x < width && y < height {
				from := before.pix[3*(y*width+x):][:3]
				row[i], row[i+1], row[i+2] = from[0], from[1], from[2]
			} else {
				row[i], row[i+1], row[i+2] = fill[0], fill[1], fill[2]
			}
			atX, atY = atX+alongX, atY+alongY
		}
	}
}

// view is a picture on a canvas: RGB rows of Width pixels that begin stride bytes apart.
type view struct {
	pix           []uint8
	stride        int
	width, height int
}

// row is row y of the picture.
func (v *view) row(y int) []uint8 { return v.pix[y*v.stride : y*v.stride+3*v.width] }

// part is a rectangle of it.
func (v *view) part(r Rect) view {
	return view{pix: v.pix[r.Y*v.stride+3*r.X:], stride: v.stride, width: r.Width, height: r.Height}
}

// copyInto packs the picture into memory without gaps, growing it where needed.
func (v *view) copyInto(buffer *[]uint8) view {
	n := 3 * v.width * v.height
	if cap(*buffer) < n {
		*buffer = make([]uint8, n)
	}
	packed := view{pix: (*buffer)[:n], stride: 3 * v.width, width: v.width, height: v.height}
	for y := range v.height {
		copy(packed.row(y), v.row(y))
	}
	return packed
}

// fill gives all pixels one colour.
func (v *view) fill(colour [3]uint8) {
	if v.height == 0 || v.width == 0 {
		return
	}
	first := v.row(0)
	for x := 0; x < len(first); x += 3 {
		first[x], first[x+1], first[x+2] = colour[0], colour[1], colour[2]
	}
	for y := 1; y < v.height; y++ {
		copy(v.row(y), first)
	}
}
