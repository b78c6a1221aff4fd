package simd

import "fmt"

// Batch is a matrix product at each of several points:
//
//	Dst[p·DstPoint + i·DstStride + j] =
//	    sum over c < Depth of A[p·APoint + i·Depth + c] · Panel[p·PanelPoint + c·width + j]
//
// for p < Points, i < Rows and j < width. Rows is a multiple of the rows of the level's batch shape.
type Batch struct {
	A                   []float32
	APoint              int
	Panel               []float32
	PanelPoint          int
	Dst                 []float32
	DstPoint, DstStride int
	Points, Rows, Depth int
}

func (b *Batch) check(rows, width int) {
	points := b.Points - 1
	switch {
	case b.Points < 1 || b.Rows < 1 || b.Rows%rows != 0 || b.Depth < 1 || b.APoint < 0 || b.PanelPoint < 0 ||
		b.DstPoint < 0 || b.DstStride < width:
		panic(fmt.Sprintf("simd: batch of %d points, %d rows (in units of %d) and depth %d, strides %d, %d, %d and %d",
			b.Points, b.Rows, rows, b.Depth, b.APoint, b.PanelPoint, b.DstPoint, b.DstStride))
	case points*b.APoint+b.Rows*b.Depth > len(b.A) || points*b.PanelPoint+b.Depth*width > len(b.Panel) ||
		points*b.DstPoint+(b.Rows-1)*b.DstStride+width > len(b.Dst):
		panic(fmt.Sprintf("simd: batch of %d points, %d rows and depth %d, strides %d, %d, %d and %d, in %d, %d and %d",
			b.Points, b.Rows, b.Depth, b.APoint, b.PanelPoint, b.DstPoint, b.DstStride, len(b.A), len(b.Panel), len(b.Dst)))
	}
}

// BatchShape returns the size of the blocks that MultiplyBatch computes at a point: its rows are a multiple of
// rows, its panels are width wide.
func (l Level) BatchShape() (rows, width int) { return table[l].batchShape[0], table[l].batchShape[1] }

// MultiplyBatch computes a batch of matrix products.
func (l Level) MultiplyBatch(b *Batch) {
	b.check(l.BatchShape())
	if k := table[l].multiplyBatch; k != nil {
		k(at(b.A), b.APoint, b.Rows, b.Depth, at(b.Panel), b.PanelPoint, at(b.Dst), b.DstPoint, b.DstStride, b.Points)
	} else {
		batchGeneric(b)
	}
}

func batchGeneric(b *Batch) {
	var offsets [genericRows]int
	t := Tile{Offsets: offsets[:], Taps: 1, Depth: b.Depth, DstStride: b.DstStride, Rows: genericRows}
	for i := range t.Offsets {
		t.Offsets[i] = i * b.Depth
	}
	for p := range b.Points {
		t.Panel = b.Panel[p*b.PanelPoint:]
		for i := 0; i < b.Rows; i += genericRows {
			t.A, t.Dst = b.A[p*b.APoint+i*b.Depth:], b.Dst[p*b.DstPoint+i*b.DstStride:]
			tileGeneric(&t)
		}
	}
}
