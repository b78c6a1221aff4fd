package simd

import "fmt"

// The transforms of Winograd's convolution F(4×4, 3×3): 16 outputs of a 3×3 filter from 36 products
// instead of 144. A window of 6×6 inputs and a filter are taken as polynomials in two variables, of
// which the values at 36 pairs of points are multiplied, summed over the channels, and taken back:
//
//	y = Aᵀ [ sum over channels of (G w Gᵀ) ⊙ (Bᵀ x B) ] A
//
// and with the same values of x, summed over the windows of all cells,
//
//	dw = Gᵀ [ sum over windows of (A dy Aᵀ) ⊙ (Bᵀ x B) ] G
//
// The points are 0, ±√½, ±√2 and infinity. They lose about one bit, whereas the usual 0, ±1, ±2 lose two or
// three. Few of their factors are not powers of 2.
const (
	pointA, squareA, cubeA = sqrt2 / 2, .5, sqrt2 / 4
	pointB, squareB, cubeB = sqrt2, 2., sqrt2 * 2
	normA, normB           = -1.5, 6. // products of the distances from ±√½, and from ±√2, to the other points

	sqrt2 = 1.41421356237309504880168872420969807856967187537694
)

// WinogradLanes divides the number of channels that the transforms take.
const WinogradLanes = 16

// Matrix is a small matrix of vectors of channels: element i, j begins at Data[i·Row + j·Column].
type Matrix struct {
	Data        []float32
	Row, Column int
}

// check panics if a matrix of rows × columns leaves its slice.
func (m *Matrix) check(operation, side string, rows, columns, channels int) {
	if last := (rows-1)*m.Row + (columns-1)*m.Column; m.Row < 0 || m.Column < 0 || last+channels > len(m.Data) {
		panic(fmt.Sprintf("simd: Winograd %s, %s: %d×%d vectors of %d, at strides %d and %d, in %d", operation, side, rows,
			columns, channels, m.Row, m.Column, len(m.Data)))
	}
}

func checkChannels(operation string, channels int) {
	if channels < 0 || channels%WinogradLanes != 0 {
		panic(fmt.Sprintf("simd: Winograd %s of %d channels: want a multiple of %d", operation, channels, WinogradLanes))
	}
}

// WinogradInput computes dst = Bᵀ src B, both 6×6.
func (l Level) WinogradInput(dst, src Matrix, channels int) {
	table[l].winogradInput.run("input", inputLine, 6, 6, &dst, &src, channels)
}

// WinogradFilter computes dst = G src Gᵀ, 6×6 from 3×3.
func (l Level) WinogradFilter(dst, src Matrix, channels int) {
	table[l].winogradFilter.run("filter", filterLine, 6, 3, &dst, &src, channels)
}

// WinogradGradient computes dst = A src Aᵀ, 6×6 from 4×4.
func (l Level) WinogradGradient(dst, src Matrix, channels int) {
	table[l].winogradGradient.run("gradient", gradientLine, 6, 4, &dst, &src, channels)
}

// WinogradFilterGradient computes dst = Gᵀ src G, 3×3 from 6×6. If load is set, it adds to the values of dst.
func (l Level) WinogradFilterGradient(dst, src Matrix, channels int, load bool) {
	checkTransform("filter gradient", &dst, &src, 3, 6, channels)
	if k := table[l].winogradFilterGradient; k == nil {
		transformGeneric(filterGradientLine, 3, 6, &dst, &src, channels, load)
	} else if channels > 0 {
		k(at(dst.Data), dst.Row, dst.Column, at(src.Data), src.Row, src.Column, channels, flagLoad*bit(load))
	}
}

func checkTransform(operation string, dst, src *Matrix, to, from, channels int) {
	checkChannels(operation, channels)
	dst.check(operation, "destination", to, to, channels)
	src.check(operation, "source", from, from, channels)
}

// WinogradOutput is a call that computes dst = Aᵀ src A, 4×4 from 6×6, and stores its first rows and columns.
// They are finished as in a Tile: a forward pass adds the bias and clamps, a gradient begins with the values
// of dst and masks.
type WinogradOutput struct {
	Dst, Src      Matrix
	Rows, Columns int // of Dst, at most 4
	Channels      int
	Bias          []float32 // Channels values, or nil
	ReLU          bool
	Load          bool
	Mask          []float32 // shaped as Dst.Data, or nil
}

// WinogradOutput computes an output of a forward pass: Load and Mask do not count.
func (l Level) WinogradOutput(o *WinogradOutput) {
	if !o.check() {
		return
	}
	if k := table[l].winogradOutput; k != nil {
		k(at(o.Dst.Data), o.Dst.Row, o.Dst.Column, at(o.Src.Data), o.Src.Row, o.Src.Column, o.Channels, o.Rows, o.Columns,
			at(o.Bias), flagReLU*bit(o.ReLU))
	} else {
		winogradOutputGeneric(o, false)
	}
}

// WinogradDataGradient computes an output of a gradient: Bias and ReLU do not count.
func (l Level) WinogradDataGradient(o *WinogradOutput) {
	if !o.check() {
		return
	}
	if k := table[l].winogradDataGradient; k != nil {
		k(at(o.Dst.Data), o.Dst.Row, o.Dst.Column, at(o.Src.Data), o.Src.Row, o.Src.Column, o.Channels, o.Rows, o.Columns,
			at(o.Mask), flagLoad*bit(o.Load))
	} else {
		winogradOutputGeneric(o, true)
	}
}

// check reports whether there is anything to do, and panics if a call would leave its slices.
func (o *WinogradOutput) check() bool {
	checkChannels("output", o.Channels)
	if o.Rows < 0 || o.Rows > 4 || o.Columns < 0 || o.Columns > 4 {
		panic(fmt.Sprintf("simd: Winograd output of %d×%d: want at most 4×4", o.Rows, o.Columns))
	}
	if o.Rows == 0 || o.Columns == 0 || o.Channels == 0 {
		return false
	}
	o.Dst.check("output", "destination", o.Rows, o.Columns, o.Channels)
	o.Src.check("output", "source", 6, 6, o.Channels)
	if o.Bias != nil && len(o.Bias) < o.Channels || o.Mask != nil && len(o.Mask) < len(o.Dst.Data) {
		panic(fmt.Sprintf("simd: Winograd output of %d channels with %d biases and a mask of %d for %d", o.Channels,
			len(o.Bias), len(o.Mask), len(o.Dst.Data)))
	}
	return true
}
