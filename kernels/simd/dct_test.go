package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// blockOfSamples is the inverse transform by its definition in float64.
func blockOfSamples(coefs []int16, factors *[64]uint16) (samples [64]float64) {
	scale := func(k int) float64 {
		if k == 0 {
			return math.Sqrt2 / 4
		}
		return .5
	}
	for y := range 8 {
		for x := range 8 {
			sum := 128.
			for v := range 8 {
				for u := range 8 {
					angle := math.Cos(float64(2*x+1)*float64(u)*math.Pi/16) * math.Cos(float64(2*y+1)*float64(v)*math.Pi/16)
					sum += scale(u) * scale(v) * angle * float64(coefs[8*v+u]) * float64(factors[8*v+u])
				}
			}
			samples[8*y+x] = min(max(sum, 0), 255)
		}
	}
	return samples
}

// randomCoefs are coefficients like a photograph's: few, and larger for low frequencies.
func randomCoefs(r *rand.Rand, coefs []int16) {
	for i := range coefs {
		if at := i % 64; r.IntN(2+at/4) == 0 {
			coefs[i] = int16(r.NormFloat64() * 40 / float64(1+at/8+at%8))
		}
	}
}

func randomFactors(r *rand.Rand) *[64]uint16 {
	var factors [64]uint16
	for i := range factors {
		factors[i] = uint16(1 + r.IntN(16))
	}
	return &factors
}

// The accuracy that IEEE 1180 asks of an inverse transform in its sense: no sample more than one off, and
// the mean of the squares of errors below .02.
func TestInverseDCT_IsThatOfTheDefinition(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		const blocks = 400
		coefs, factors := make([]int16, 64*blocks), randomFactors(r)
		randomCoefs(r, coefs)
		dst, squares := make([]uint8, len(coefs)), 0.
		l.InverseDCT(dst, 8*blocks, coefs, factors)
		for b := range blocks {
			want := blockOfSamples(coefs[64*b:], factors)
			for i, exact := range want {
				got := float64(dst[8*blocks*(i/8)+8*b+i%8])
				squares += (got - math.Round(exact)) * (got - math.Round(exact))
				if !(math.Abs(got-exact) <= 1) {
					t.Fatalf("block %d, sample %d is %v, exact %.3f", b, i, got, exact)
				}
			}
		}
		if mean := squares / float64(len(dst)); !(mean < .02) {
			t.Errorf("the mean of squared errors is %.4f", mean)
		}
	})
}

// Any coefficients and factors, also from damaged files.
func TestInverseDCT_EveryLevelAsTheGoTwin(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		for _, blocks := range []int{0, 1, 2, 3, 4, 7, 20} {
			for trial := range 32 {
				stride := 8*blocks + trial%3
				coefs, factors := fencedShorts(t, 64*blocks), randomFactors(r)
				randomCoefs(r, coefs)
				for i := range coefs {
					switch row, column := i/8%8, i%8; trial % 8 {
					case 1:
						coefs[i] = int16(r.Uint32())
					case 2:
						coefs[i] = []int16{math.MinInt16, math.MaxInt16}[r.IntN(2)]
					case 3: // the mean alone
						coefs[i] *= int16(bit(i%64 == 0))
					case 4: // the first row
						coefs[i] = int16(r.Uint32()) * int16(bit(row == 0))
					case 5: // the left half
						coefs[i] = int16(r.Uint32()) * int16(bit(column < 4))
					case 6: // the upper half
						coefs[i] = int16(r.Uint32()) * int16(bit(row < 4))
					}
				}
				if trial > 20 {
					for i := range factors {
						factors[i] = uint16(r.Uint32())
					}
				}
				checkInverseDCT(t, l, coefs, factors, stride)
			}
		}
	})
}

func checkInverseDCT(t *testing.T, l Level, coefs []int16, factors *[64]uint16, stride int) {
	t.Helper()
	blocks := len(coefs) / 64
	n := 0
	if blocks > 0 {
		n = 7*stride + 8*blocks
	}
	got, want := fencedBytes(t, n), make([]uint8, n)
	for i := range want {
		got[i], want[i] = 77, 77 // between the rows nothing is written
	}
	l.InverseDCT(got, stride, coefs, factors)
	for b := range blocks {
		inverseDCTGeneric(want[8*b:], stride, (*[64]int16)(coefs[64*b:]), factors)
	}
	for i, v := range want {
		if got[i] != v {
			t.Fatalf("%d blocks in rows of %d: sample %d is %d, want %d", blocks, stride, i, got[i], v)
		}
	}
}

func TestInverseDCT_RefusesWhatDoesNotFit(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, _ *rand.Rand) {
		var factors [64]uint16
		refuses(t, map[string]func(){
			"part of a block":   func() { l.InverseDCT(make([]uint8, 128), 16, make([]int16, 127), &factors) },
			"rows that overlap": func() { l.InverseDCT(make([]uint8, 128), 15, make([]int16, 128), &factors) },
			"short samples":     func() { l.InverseDCT(make([]uint8, 127), 16, make([]int16, 128), &factors) },
		})
	})
}

func FuzzInverseDCT(f *testing.F) {
	f.Add(uint64(1), int16(0), uint16(1))
	f.Add(uint64(2), int16(-32768), uint16(65535))
	f.Fuzz(func(t *testing.T, seed uint64, coefficient int16, factor uint16) {
		r := rand.New(rand.NewPCG(seed, 3))
		coefs, factors := make([]int16, 64*3), randomFactors(r)
		for i := range coefs {
			coefs[i] = int16(r.Uint32() >> (r.Uint32() & 15))
		}
		coefs[r.IntN(len(coefs))], factors[r.IntN(64)] = coefficient, factor
		for _, l := range Levels() {
			checkInverseDCT(t, l, coefs, factors, 27)
		}
	})
}

func BenchmarkInverseDCT(b *testing.B) {
	const blocks = 80
	r := rand.New(rand.NewPCG(1, 2))
	coefs, dst, factors := make([]int16, 64*blocks), make([]uint8, 64*blocks), randomFactors(r)
	randomCoefs(r, coefs)
	for _, l := range Levels() {
		b.Run("blocks=80/simd="+l.String(), func(b *testing.B) {
			b.SetBytes(64 * blocks)
			for b.Loop() {
				l.InverseDCT(dst, 8*blocks, coefs, factors)
			}
		})
	}
}
