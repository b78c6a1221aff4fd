package simd

import "fmt"

// maxTileRows is the largest number of rows that TileShape returns.
const maxTileRows = 12

// Tile is one call of the innermost loop of a correlation: Rows × width outputs, all their taps.
//
//	v = (From[i][j] if Load, else 0) + sum over t < Taps, c < Depth of
//	    A[Offsets[i] + t·TapStride + c] · Panel[(t·Depth + c)·width + t·PanelSkip + j]
//	v = v (+ Bias[j]), max(v, 0) if ReLU, 0 where Mask[i][j] <= 0
//	Dst[i][j] = v
//
// From is Dst by default. The sum is taken in this order, beginning with From: cutting it into several calls
// changes no bit. A is read in place: the windows of a convolution are never copied. Row i of Dst and Mask
// begins at i·DstStride, and so does row i of From. A NaN sum stays NaN through ReLU. A NaN in Mask keeps the
// value.
type Tile struct {
	A         []float32
	Offsets   []int // one for each row of the tile shape; rows from Rows on are read, not stored
	Taps      int
	Depth     int
	TapStride int
	Panel     []float32
	PanelSkip int // values of the panel to skip after each tap
	Dst       []float32
	DstStride int
	Rows      int       // rows to store, at least 1
	Load      bool      // begin with the values of From
	From      []float32 // shaped as Dst, or nil for Dst
	Bias      []float32 // width values, or nil
	Mask      []float32 // shaped as Dst, or nil
	ReLU      bool

	// Data to prefetch for later calls; it changes no result. Next is the start of the next call's Dst,
	// counted from this call's, with its From and Mask; 0 prefetches none. Each tap prefetches two rows.
	// Ahead is prefetched in the number of values that the tile reads in A, one after the other; nil
	// prefetches none.
	Next  int
	Ahead []float32
}

// begin returns the values that the sums begin with.
func (t *Tile) begin() []float32 {
	if t.From != nil {
		return t.From
	}
	return t.Dst
}

// ahead returns the data to prefetch. Without any it is data that is read anyway.
func (t *Tile) ahead() []float32 {
	if len(t.Ahead) > 0 {
		return t.Ahead
	}
	return t.A
}

// check panics if the tile would leave its slices.
func (t *Tile) check(rows, width int) {
	last := (t.Rows-1)*t.DstStride + width
	switch {
	case t.Rows < 1 || t.Rows > rows || len(t.Offsets) < rows:
		panic(fmt.Sprintf("simd: tile of %d rows and %d offsets, for %d", t.Rows, len(t.Offsets), rows))
	case t.From != nil && last > len(t.From):
		panic(fmt.Sprintf("simd: tile of %d×%d, stride %d, begins with %d", t.Rows, width, t.DstStride, len(t.From)))
	case last > len(t.Dst) || t.Mask != nil && last > len(t.Mask) || t.Bias != nil && width > len(t.Bias):
		panic(fmt.Sprintf("simd: tile of %d×%d, stride %d, in %d outputs, %d mask, %d bias", t.Rows, width, t.DstStride,
			len(t.Dst), len(t.Mask), len(t.Bias)))
	case t.Taps > 0 && (t.PanelSkip < 0 || t.Taps*t.Depth*width+(t.Taps-1)*t.PanelSkip > len(t.Panel)):
		panic(fmt.Sprintf("simd: panel of %d for %d taps of %d×%d", len(t.Panel), t.Taps, t.Depth, width))
	}
	if t.Taps < 1 || t.Depth < 1 {
		return
	}
	span := (t.Taps-1)*t.TapStride + t.Depth
	for _, offset := range t.Offsets[:rows] {
		if offset < 0 || offset+span > len(t.A) {
			panic(fmt.Sprintf("simd: tile reads %d from %d of %d", span, offset, len(t.A)))
		}
	}
}

// Sum describes a call of the innermost loop of a filter gradient, an accumulation of outer
// products over Depth cells:
//
//	Dst[i·DstStride + j] = (Dst[i·DstStride + j] if Load, else 0)
//	    + sum over m < Depth of A[m·AStride + i] · Panel[m·width + j]
//
// for i < Rows and all j < width of the level's outer shape. A is read for all rows of the shape.
type Sum struct {
	A         []float32
	AStride   int
	Panel     []float32
	Depth     int
	Dst       []float32
	DstStride int
	Rows      int  // rows to store, at least 1
	Load      bool // begin with the values of Dst
}

func (s *Sum) check(rows, width int) {
	switch {
	case s.Rows < 1 || s.Rows > rows || (s.Rows-1)*s.DstStride+width > len(s.Dst):
		panic(fmt.Sprintf("simd: outer sum of %d×%d, stride %d, in %d", s.Rows, width, s.DstStride, len(s.Dst)))
	case s.Depth > 0 && ((s.Depth-1)*s.AStride+rows > len(s.A) || s.Depth*width > len(s.Panel)):
		panic(fmt.Sprintf("simd: outer sum over %d cells, stride %d, of %d values and a panel of %d", s.Depth, s.AStride,
			len(s.A), len(s.Panel)))
	}
}
