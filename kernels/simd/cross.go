package simd

import "fmt"

// Cross is a sum of outer products of the rows of two matrices:
//
//	Dst[i·DstStride + j] = sum over m < Depth of A[m·AStride + i] · B[m·BStride + j]
//	    + (Dst[i·DstStride + j] if Load, else 0)
//
// for i < Rows, a multiple of the rows of the level's cross shape, and j < its width. It is Sum for a packed
// panel, for many rows at once. But the values of Dst are added last: a long sum in several calls keeps more
// digits than one in a single call.
type Cross struct {
	A         []float32
	AStride   int
	B         []float32
	BStride   int
	Depth     int // at least 1
	Dst       []float32
	DstStride int
	Rows      int
	Load      bool // add to the values of Dst

	// Ahead is data to prefetch for a later call: Depth rows that begin AheadStride apart, a line of
	// AheadLine values for every CrossShape rows of this call. It changes no result. nil prefetches nothing.
	Ahead       []float32
	AheadStride int
}

// AheadLine is the number of values that come from memory together.
const AheadLine = 16

func (c *Cross) check(rows, width int) {
	last := c.Depth - 1
	switch {
	case c.Depth < 1 || c.Rows < 1 || c.Rows%rows != 0 || c.AStride < 0 || c.BStride < 0 || c.DstStride < width:
		panic(fmt.Sprintf("simd: cross of %d rows (in units of %d) over %d, strides %d, %d and %d", c.Rows, rows, c.Depth,
			c.AStride, c.BStride, c.DstStride))
	case last*c.AStride+c.Rows > len(c.A) || last*c.BStride+width > len(c.B) || (c.Rows-1)*c.DstStride+width > len(c.Dst):
		panic(fmt.Sprintf("simd: cross of %d×%d over %d, strides %d, %d and %d, in %d, %d and %d",
			c.Rows, width, c.Depth, c.AStride, c.BStride, c.DstStride, len(c.A), len(c.B), len(c.Dst)))
	}
}

// CrossShape returns the size of the blocks that Cross computes: its rows are a multiple of rows, and it is
// width wide.
func (l Level) CrossShape() (rows, width int) { return table[l].crossShape[0], table[l].crossShape[1] }

// Cross computes a sum of outer products.
func (l Level) Cross(c *Cross) {
	c.check(l.CrossShape())
	k := &table[l]
	if k.cross == nil {
		crossGeneric(c)
		return
	}
	ahead, aheadStride := at(c.Ahead), c.AheadStride
	if len(c.Ahead) == 0 { // read data that is already in the cache
		ahead, aheadStride = at(c.A), 0
	}
	k.cross(at(c.A), c.AStride, at(c.B), c.BStride, c.Depth, at(c.Dst), c.DstStride, c.Rows/k.crossShape[0],
		flagLoad*bit(c.Load), ahead, aheadStride)
}
