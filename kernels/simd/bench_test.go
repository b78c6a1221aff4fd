package simd

import (
	"fmt"
	"testing"
)

// BenchmarkMultiply measures the tile kernel on one thread, its operands in the first-level cache.
func BenchmarkMultiply(b *testing.B) {
	for _, l := range Levels() {
		rows, wide, narrow := l.TileShape()
		for _, width := range []int{wide, narrow} {
			b.Run(fmt.Sprintf("width=%d/depth=128/simd=%s", width, l), func(b *testing.B) {
				t := Tile{A: make([]float32, 128*rows), Offsets: make([]int, rows), Taps: 1, Depth: 128,
					Panel: make([]float32, 128*width), Dst: make([]float32, rows*width), DstStride: width, Rows: rows}
				for i := range rows {
					t.Offsets[i] = i * 128
				}
				for b.Loop() {
					l.Multiply(&t, width)
				}
				b.ReportMetric(2*float64(rows*width*128*b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}

// BenchmarkOuter measures the outer sum on one thread.
func BenchmarkOuter(b *testing.B) {
	for _, l := range Levels() {
		rows, width := l.OuterShape()
		b.Run(fmt.Sprintf("depth=128/simd=%s", l), func(b *testing.B) {
			s := Sum{A: make([]float32, 128*rows), AStride: rows, Panel: make([]float32, 128*width), Depth: 128,
				Dst: make([]float32, rows*width), DstStride: width, Rows: rows}
			for b.Loop() {
				l.Outer(&s)
			}
			b.ReportMetric(2*float64(rows*width*128*b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
