package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// pairs returns n pairs of random bfloat16, which end at a page that faults.
func pairs(t testing.TB, r *rand.Rand, n int) []float32 {
	v := fenced(t, n)
	Generic.RoundBFloat16(v, random(t, r, 2*n))
	return v
}

// halves returns the two numbers of a pair.
func halves(pair float32) (lower, upper float32) {
	bits := math.Float32bits(pair)
	return math.Float32frombits(bits << 16), math.Float32frombits(bits &^ 0xffff)
}

// bfloat16Tile makes a case whose factors are pairs.
func (c tileCase) bfloat16Tile(t testing.TB, r *rand.Rand, rows, width int) Tile {
	tile := c.build(t, r, rows, width)
	tile.A, tile.Panel = pairs(t, r, len(tile.A)), pairs(t, r, len(tile.Panel))
	return tile
}

// eachBFloat16 runs a test for the width and the rows of every tile of every level.
func eachBFloat16(t *testing.T, f func(t *testing.T, l Level, r *rand.Rand, rows, width int)) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		rows, wide, narrow := l.TileShape()
		for _, width := range []int{wide, narrow} {
			t.Run(fmt.Sprintf("width=%d", width), func(t *testing.T) { f(t, l, r, rows, width) })
		}
	})
}

func TestMultiplyBFloat16_EqualsItsDefinition(t *testing.T) {
	eachBFloat16(t, func(t *testing.T, l Level, r *rand.Rand, rows, width int) {
		for _, c := range tileCases(rows) {
			tile := c.bfloat16Tile(t, r, rows, width)
			before := append([]float32(nil), tile.Dst...)
			l.MultiplyBFloat16(&tile, width)
			wantRows(t, tile.Dst, before, tile.DstStride, width, func(i, j int) (v, bound float64) {
				return c.wantBFloat16(&tile, before, i, j, width)
			})
		}
	})
}

// wantBFloat16 is want for factors that are pairs: a tile with twice the depth.
func (c tileCase) wantBFloat16(tile *Tile, before []float32, i, j, width int) (v, bound float64) {
	one := *tile
	one.A, one.Panel, one.Offsets = nil, nil, nil
	for _, offset := range tile.Offsets {
		one.Offsets = append(one.Offsets, 2*offset)
	}
	for _, pair := range tile.A {
		lower, upper := halves(pair)
		one.A = append(one.A, lower, upper)
	}
	whole := c.depth*width + c.skip
	for tap := range c.taps {
		for d := range c.depth {
			var next []float32
			for _, pair := range tile.Panel[tap*whole+d*width:][:width] {
				lower, upper := halves(pair)
				one.Panel, next = append(one.Panel, lower), append(next, upper)
			}
			one.Panel = append(one.Panel, next...)
		}
	}
	wide := c
	wide.depth, wide.skip, one.TapStride = 2*c.depth, 0, 2*tile.TapStride
	return wide.want(&one, before, i, j, width)
}

// The Go code defines the result. Levels give its bits, for factors of any size, NaN and infinities.
func TestMultiplyBFloat16_EveryLevelAsTheGoTwin(t *testing.T) {
	eachBFloat16(t, func(t *testing.T, l Level, r *rand.Rand, rows, width int) {
		for n := 1; n <= rows; n++ {
			for _, spread := range []int{1, 20, 60, 140} {
				c := tileCase{taps: 1 + n%2, depth: 9, rows: n, load: n%3 > 0, biased: n%4 == 0, relu: n%5 == 0, tapStride: 11}
				tile := c.bfloat16Tile(t, r, rows, width)
				for i := range tile.A {
					tile.A[i] = scattered(r, spread)
				}
				for i := range tile.Panel {
					tile.Panel[i] = scattered(r, spread)
				}
				other := tile
				other.Dst = copies(t, tile.Dst)[0]
				l.MultiplyBFloat16(&tile, width)
				tileBFloat16Generic(&other, width)
				same(t, fmt.Sprintf("%d rows, exponents to %d", n, spread), tile.Dst, other.Dst)
			}
		}
	})
}

// scattered is a pair of numbers with exponents up to a bound in size. Some are 0, infinite or NaN.
func scattered(r *rand.Rand, spread int) float32 {
	half := func() uint32 {
		exponent := min(max(127-spread+r.IntN(2*spread), 0), 254)
		switch r.IntN(400) {
		case 0:
			exponent = 255
		case 1:
			exponent = 0
		}
		return uint32(r.IntN(2)<<15 | exponent<<7 | r.IntN(128))
	}
	return math.Float32frombits(half()<<16 | half())
}

// Sums at the smallest normal number: those that round to less count as 0.
func TestMultiplyBFloat16_FlushesSmallNumbers(t *testing.T) {
	pair := func(lower float32) float32 { return math.Float32frombits(math.Float32bits(lower) >> 16) }
	const least = 0x1p-126
	eachBFloat16(t, func(t *testing.T, l Level, _ *rand.Rand, rows, width int) {
		for _, c := range []struct{ a, b, from, want float32 }{
			{1, 0, least / 2, 0}, {1, 0, -least / 2, 0}, {least, .5, 0, 0}, {least / 2, 0x1p100, 0, 0},
			{least, 1, -least / 2, least}, {0x1p-63, 0x1p-63, least, 2 * least}, {0x1p-75, -0x1p-76, least, least},
			{0x1.8p-75, -0x1p-76, least, 0}, {0x1p-75, -0x1p-75, least, 0}, {0x1.8p-76, -0x1p-76, least, least},
		} {
			tile := Tile{A: []float32{pair(c.a)}, Offsets: make([]int, rows), Taps: 1, Depth: 1, Panel: make([]float32, width),
				Dst: make([]float32, width), DstStride: width, Rows: 1, Load: true}
			for j := range tile.Dst {
				tile.Panel[j], tile.Dst[j] = pair(c.b), c.from
			}
			l.MultiplyBFloat16(&tile, width)
			for j, got := range tile.Dst {
				if got != c.want {
					t.Fatalf("%g·%g + %g, column %d: got %g, want %g", c.a, c.b, c.from, j, got, c.want)
				}
			}
		}
	})
}

func TestMultiplyBFloat16_CutReductionChangesNoBit(t *testing.T) {
	eachBFloat16(t, func(t *testing.T, l Level, r *rand.Rand, rows, width int) {
		whole := tileCase{taps: 1, depth: 100, rows: rows, biased: true}.bfloat16Tile(t, r, rows, width)
		parts := whole
		parts.Dst = make([]float32, len(whole.Dst))
		l.MultiplyBFloat16(&whole, width)
		parts.Bias, parts.Depth = nil, 37
		l.MultiplyBFloat16(&parts, width)
		parts.A, parts.Panel, parts.Depth = parts.A[37:], parts.Panel[37*width:], 63
		parts.Bias, parts.Load = whole.Bias, true
		l.MultiplyBFloat16(&parts, width)
		same(t, "sums", parts.Dst, whole.Dst)
	})
}

func TestMultiplyBFloat16_RefusesSlicesThatAreTooShort(t *testing.T) {
	eachBFloat16(t, func(t *testing.T, l Level, r *rand.Rand, rows, width int) {
		tile := tileCase{taps: 2, depth: 3, rows: rows, tapStride: 5}.bfloat16Tile(t, r, rows, width)
		tile.Panel = tile.Panel[1:]
		if !panics(func() { l.MultiplyBFloat16(&tile, width) }) {
			t.Error("accepted")
		}
		if !panics(func() { l.RoundBFloat16(make([]float32, 1), make([]float32, 3)) }) {
			t.Error("three numbers are rounded to one pair")
		}
	})
}

// Numbers are rounded to nearest, ties to even. Nothing is written after the pairs.
func TestRoundBFloat16_EveryLevelAsDefined(t *testing.T) {
	bits := math.Float32frombits
	for _, c := range []struct {
		x    float32
		want uint16
	}{
		{bits(0x3f808000), 0x3f80}, {bits(0x3f818000), 0x3f82}, {bits(0x3f808001), 0x3f81}, {bits(0xbf807fff), 0xbf80},
		{bits(0x7f7f7fff), 0x7f7f}, {bits(0x7f7f8000), 0x7f80}, {inf, 0x7f80}, {-inf, 0xff80}, {bits(0x7f800001), 0x7fc0},
		{bits(0xffffffff), 0xffff}, {bits(0x00800000), 0x0080}, {bits(0x007fffff), 0}, {bits(0x80000001), 0x8000}, {0, 0},
	} {
		for _, l := range Levels() {
			for _, n := range []int{1, 2, 20, 32} {
				in, out := make([]float32, n), make([]float32, (n+1)/2)
				in[n-1] = c.x
				l.RoundBFloat16(out, in)
				got := math.Float32bits(out[len(out)-1])
				if n%2 == 0 {
					got >>= 16
				}
				if got != uint32(c.want) {
					t.Errorf("%s: %g, the last of %d: got %#04x, want %#04x", l, c.x, n, got, c.want)
				}
			}
		}
	}
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		for n := range 70 {
			in, want, got := random(t, r, n), make([]float32, (n+1)/2), fenced(t, (n+1)/2)
			Generic.RoundBFloat16(want, in)
			l.RoundBFloat16(got, in)
			for i := range want {
				if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
					t.Fatalf("pair %d of %d numbers: got %#08x, want %#08x", i, n, math.Float32bits(got[i]),
						math.Float32bits(want[i]))
				}
			}
			room := append(make([]float32, 0, n), want...)[:(n+1)/2+n/2]
			l.RoundBFloat16(room, in)
			for i, v := range room[(n+1)/2:] {
				if v != 0 {
					t.Fatalf("%d numbers: wrote %g in pair %d after them", n, v, i)
				}
			}
		}
	})
}

func TestBFloat16_NamesWhatIsMissing(t *testing.T) {
	for _, l := range []Level{Generic, NEON, AVX2, AVX512} {
		err := l.BFloat16()
		if err == nil && l == AVX512 {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), "AVX512_BF16") || !strings.Contains(err.Error(), l.String()) {
			t.Errorf("%s: %v", l, err)
		}
	}
}
