package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// All 16 million colours, against the matrix of JFIF in float64. The constants have 16 bits: a level may be
// .52 off before it is rounded.
func TestYCbCr_EveryColour(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	eachLevel(t, func(t *testing.T, l Level, _ *rand.Rand) {
		luma, cb, cr, dst := make([]uint8, 256), make([]uint8, 256), make([]uint8, 256), make([]uint8, 3*256)
		for i := range luma {
			luma[i] = uint8(i)
		}
		for u := range 256 {
			for w := range 256 {
				for i := range cb {
					cb[i], cr[i] = uint8(u), uint8(w)
				}
				l.YCbCr(dst, luma, cb, cr)
				b, r := float64(u)-128, float64(w)-128
				shift := [3]float64{1.402 * r, -.344136*b - .714136*r, 1.772 * b}
				for i, got := range dst {
					want := min(max(float64(i/3)+shift[i%3], 0), 255)
					if !(math.Abs(float64(got)-want) <= .52) {
						t.Fatalf("colour %d, %d, %d: channel %d is %d, want %.3f", i/3, u, w, i%3, got, want)
					}
				}
			}
		}
	})
}

func TestYCbCr_EveryLevelAsTheGoTwin(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		for _, n := range sizes {
			luma, cb, cr := randomBytes(t, r, n), randomBytes(t, r, n), randomBytes(t, r, n)
			got, want := fencedBytes(t, 3*n), make([]uint8, 3*n)
			l.YCbCr(got, luma, cb, cr)
			ycbcrGeneric(want, luma, cb, cr)
			for i, v := range want {
				if got[i] != v {
					t.Fatalf("%d pixels: byte %d is %d, want %d", n, i, got[i], v)
				}
			}
		}
	})
}

func TestYCbCr_RefusesWhatDoesNotFit(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, _ *rand.Rand) {
		ten, nine, thirty := make([]uint8, 10), make([]uint8, 9), make([]uint8, 30)
		refuses(t, map[string]func(){
			"luma":   func() { l.YCbCr(thirty, nine, ten, ten) },
			"cb":     func() { l.YCbCr(thirty, ten, nine, ten) },
			"cr":     func() { l.YCbCr(thirty, ten, ten, nine) },
			"result": func() { l.YCbCr(thirty[1:], ten, ten, ten) },
		})
	})
}
