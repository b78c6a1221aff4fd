package simd

import (
	"math/rand/v2"
	"testing"
)

// sizes are around every vector length and unroll.
var sizes = []int{0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 64, 65, 100}

func TestCopyRows_MovesRowsAndNothingElse(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		for _, width := range sizes {
			for _, rows := range []int{0, 1, 2, 5} {
				srcStride, dstStride := width+3, width+5
				src := random(t, r, max(0, (rows-1)*srcStride+width))
				dst := random(t, r, max(0, (rows-1)*dstStride+width))
				want := append([]float32(nil), dst...)
				copyRowsGeneric(want, dstStride, src, srcStride, rows, width)
				l.CopyRows(dst, dstStride, src, srcStride, rows, width)
				equal(t, dst, want)
			}
		}
	})
}

func equal(t *testing.T, got, want []float32) {
	t.Helper()
	for i, v := range want {
		if got[i] != v {
			t.Fatalf("element %d of %d: got %g, want %g", i, len(want), got[i], v)
		}
	}
}

func TestTranspose_ExchangesRowsAndColumns(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		for _, rows := range sizes {
			for _, cols := range sizes {
				srcStride, dstStride := cols+2, rows+1
				src := random(t, r, max(0, (rows-1)*srcStride+cols))
				dst := random(t, r, max(0, (cols-1)*dstStride+rows))
				before := append([]float32(nil), dst...)
				l.Transpose(dst, dstStride, src, srcStride, rows, cols)
				for at, got := range dst {
					i, j := at/dstStride, at%dstStride
					want := before[at]
					if j < rows && cols > 0 {
						want = src[j*srcStride+i]
					}
					if got != want {
						t.Fatalf("%d×%d: element %d,%d: got %g, want %g", rows, cols, i, j, got, want)
					}
				}
			}
		}
	})
}

func TestSumRows_AddsInOrder(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		for _, width := range sizes {
			for _, rows := range []int{0, 1, 2, 3, 4, 5, 8, 11} {
				src := random(t, r, max(0, (rows-1)*(width+1)+width))
				dst := random(t, r, width)
				want := append([]float32(nil), dst...)
				sumRowsGeneric(want, src, width+1, rows)
				l.SumRows(dst, src, width+1, rows)
				equal(t, dst, want)
			}
		}
	})
}

func TestAdd_AddsEveryElement(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		for _, n := range sizes {
			dst, src := random(t, r, n), random(t, r, n)
			want := append([]float32(nil), dst...)
			addGeneric(want, src)
			l.Add(dst, src)
			equal(t, dst, want)
		}
	})
}

func TestRowOperations_RefuseSlicesThatAreTooShort(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		six, five := make([]float32, 6), make([]float32, 5)
		refuses(t, map[string]func(){
			"copy from":      func() { l.CopyRows(six, 3, five, 3, 2, 3) },
			"copy to":        func() { l.CopyRows(five, 3, six, 3, 2, 3) },
			"transpose from": func() { l.Transpose(six, 2, five, 3, 2, 3) },
			"transpose to":   func() { l.Transpose(five, 2, six, 3, 2, 3) },
			"sum":            func() { l.SumRows(six[:3], five, 3, 2) },
			"add":            func() { l.Add(six, five) },
			"negative":       func() { l.CopyRows(six, -1, six, 3, 2, 3) },
		})
	})
}
