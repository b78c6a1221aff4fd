package simd

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// batchOf makes the operands of a batch. Each ends at the end of readable memory.
func batchOf(t testing.TB, r *rand.Rand, points, rows, depth, width int) *Batch {
	b := &Batch{APoint: rows*depth + 3, PanelPoint: depth*width + 5, DstStride: width + 2, Points: points, Rows: rows,
		Depth: depth}
	b.DstPoint = rows*b.DstStride + 1
	last := points - 1
	b.A = random(t, r, last*b.APoint+rows*depth)
	b.Panel = random(t, r, last*b.PanelPoint+depth*width)
	b.Dst = random(t, r, last*b.DstPoint+(rows-1)*b.DstStride+width)
	return b
}

func TestMultiplyBatch_EqualsItsDefinition(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		unit, width := l.BatchShape()
		for _, points := range []int{1, 3} {
			for _, depth := range []int{1, 2, 33} {
				for units := 1; units <= 8; units++ {
					t.Run(fmt.Sprintf("points=%d/depth=%d/units=%d", points, depth, units), func(t *testing.T) {
						b := batchOf(t, r, points, units*unit, depth, width)
						before := append([]float32(nil), b.Dst...)
						l.MultiplyBatch(b)
						b.checkProducts(t, before, width)
					})
				}
			}
		}
	})
}

func (b *Batch) checkProducts(t *testing.T, before []float32, width int) {
	t.Helper()
	for at, got := range b.Dst {
		p, i, j := at/b.DstPoint, at%b.DstPoint/b.DstStride, at%b.DstPoint%b.DstStride
		if i >= b.Rows || j >= width {
			if got != before[at] {
				t.Fatalf("wrote between rows at %d of point %d", at%b.DstPoint, p)
			}
			continue
		}
		want, bound := products(0, b.Depth, func(c int) (x, y float32) {
			return b.A[p*b.APoint+i*b.Depth+c], b.Panel[p*b.PanelPoint+c*width+j]
		})
		if !near(got, want, bound) {
			t.Fatalf("point %d, %d,%d: got %g, want %g", p, i, j, got, want)
		}
	}
}

func TestMultiplyBatch_RefusesWhatDoesNotFit(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		unit, width := l.BatchShape()
		good := func() Batch { return *batchOf(t, r, 2, 2*unit, 7, width) }
		refusesChanged(t, good, l.MultiplyBatch, map[string]func(b *Batch){
			"A":               func(b *Batch) { b.A = b.A[1:] },
			"panel":           func(b *Batch) { b.Panel = b.Panel[1:] },
			"dst":             func(b *Batch) { b.Dst = b.Dst[1:] },
			"rows":            func(b *Batch) { b.Rows-- },
			"no rows":         func(b *Batch) { b.Rows = 0 },
			"no points":       func(b *Batch) { b.Points = 0 },
			"no depth":        func(b *Batch) { b.Depth = 0 },
			"stride":          func(b *Batch) { b.DstStride = width - 1 },
			"backwards":       func(b *Batch) { b.APoint = -b.APoint },
			"panel backwards": func(b *Batch) { b.PanelPoint = -b.PanelPoint },
		})
	})
}
