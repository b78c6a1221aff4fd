package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// eachLevel runs a test for every level that the machine supports.
func eachLevel(t *testing.T, f func(t *testing.T, l Level, r *rand.Rand)) {
	for _, l := range Levels() {
		t.Run("simd="+l.String(), func(t *testing.T) { f(t, l, rand.New(rand.NewPCG(1, 2))) })
	}
}

func random(t testing.TB, r *rand.Rand, n int) []float32 {
	v := fenced(t, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// near reports whether got equals want up to the rounding of sums of magnitude bound. It is false for NaN.
func near(got float32, want, bound float64) bool {
	return math.Abs(float64(got)-want) <= 1e-6*bound+1e-30
}

// products is a start plus the sum of n products, and the sum of their magnitudes.
func products(start float32, n int, factors func(m int) (a, b float32)) (v, bound float64) {
	v, bound = float64(start), math.Abs(float64(start))
	for m := range n {
		a, b := factors(m)
		product := float64(a) * float64(b)
		v, bound = v+product, bound+math.Abs(product)
	}
	return v, bound
}

// wantRows compares rows of some width, a stride apart, with wanted values and the magnitudes of their sums. Between
// rows nothing may have changed.
func wantRows(t *testing.T, got, before []float32, stride, width int, want func(i, j int) (v, bound float64)) {
	t.Helper()
	for at, v := range got {
		i, j := at/stride, at%stride
		if j >= width {
			if v != before[at] {
				t.Fatalf("wrote between rows at %d,%d", i, j)
			}
			continue
		}
		if want, bound := want(i, j); !near(v, want, bound) {
			t.Fatalf("%d,%d: got %g, want %g", i, j, v, want)
		}
	}
}

type tileCase struct {
	taps, depth      int
	rows             int
	load, relu       bool
	biased, masked   bool
	slack, tapStride int
	skip             int
}

func (c tileCase) String() string {
	return fmt.Sprintf("taps=%d/depth=%d/rows=%d/load=%t/relu=%t/bias=%t/mask=%t", c.taps, c.depth, c.rows, c.load, c.relu,
		c.biased, c.masked)
}

func tileCases(rows int) []tileCase {
	cases := []tileCase{
		{taps: 0, depth: 5, rows: rows}, {taps: 2, depth: 0, rows: 1, biased: true}, {taps: 1, depth: 1, rows: 1},
		{taps: 7, depth: 65, rows: rows, slack: 3, tapStride: 4}, {taps: 3, depth: 9, rows: rows, biased: true, relu: true,
			tapStride: 100},
		{taps: 1, depth: 700, rows: rows, load: true, masked: true},
	}
	for n := 1; n <= rows; n++ {
		cases = append(cases, tileCase{taps: 2, depth: 3, rows: n, load: n%2 == 0, masked: n%3 == 0, biased: n%4 < 2,
			relu: n%5 < 2, slack: n, tapStride: 5, skip: 7 * (n % 2)})
	}
	return cases
}

// build makes the operands of a case. The windows overlap, and the last ends at the end of A.
func (c tileCase) build(t testing.TB, r *rand.Rand, rows, width int) Tile {
	span := max(c.taps-1, 0)*c.tapStride + c.depth
	tile := Tile{
		A: random(t, r, span+2*rows), Offsets: make([]int, rows), Taps: c.taps, Depth: c.depth, TapStride: c.tapStride,
		Panel: random(t, r, c.taps*c.depth*width+max(0, c.taps-1)*c.skip), PanelSkip: c.skip, DstStride: width + c.slack,
		Rows: c.rows, Load: c.load, ReLU: c.relu,
	}
	for i := range tile.Offsets {
		tile.Offsets[i] = 2 * (rows - i)
	}
	tile.Dst = random(t, r, (c.rows-1)*tile.DstStride+width)
	if c.biased {
		tile.Bias = random(t, r, width)
	}
	if c.masked {
		tile.Mask = random(t, r, len(tile.Dst))
		tile.Mask[0], tile.Mask[width-1] = float32(math.NaN()), 0
	}
	return tile
}

// want returns the value of one output in float64, and the magnitude of its sum.
func (c tileCase) want(tile *Tile, before []float32, i, j, width int) (v, bound float64) {
	start := float32(0)
	if tile.Load {
		start = before[i*tile.DstStride+j]
	}
	v, bound = products(start, c.taps*c.depth, func(m int) (a, b float32) {
		tap := m / c.depth
		return tile.A[tile.Offsets[i]+tap*tile.TapStride+m%c.depth], tile.Panel[m*width+tap*c.skip+j]
	})
	if tile.Bias != nil {
		v, bound = v+float64(tile.Bias[j]), bound+math.Abs(float64(tile.Bias[j]))
	}
	if tile.ReLU {
		v = max(v, 0)
	}
	if tile.Mask != nil && tile.Mask[i*tile.DstStride+j] <= 0 {
		v, bound = 0, 0
	}
	return v, bound
}

func TestMultiply_EqualsItsDefinition(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		rows, wide, narrow := l.TileShape()
		for _, width := range []int{wide, narrow} {
			for _, c := range tileCases(rows) {
				t.Run(fmt.Sprintf("%v/width=%d", c, width), func(t *testing.T) {
					tile := c.build(t, r, rows, width)
					before := append([]float32(nil), tile.Dst...)
					l.Multiply(&tile, width)
					wantRows(t, tile.Dst, before, tile.DstStride, width, func(i, j int) (v, bound float64) {
						return c.want(&tile, before, i, j, width)
					})
				})
			}
		}
	})
}

func TestMultiply_CutReductionChangesNoBit(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		rows, wide, _ := l.TileShape()
		whole := tileCase{taps: 1, depth: 100, rows: rows, biased: true}.build(t, r, rows, wide)
		parts := whole
		parts.Dst = make([]float32, len(whole.Dst))
		l.Multiply(&whole, wide)
		parts.Bias, parts.Depth = nil, 37
		l.Multiply(&parts, wide)
		parts.A, parts.Panel, parts.Depth = parts.A[37:], parts.Panel[37*wide:], 63
		parts.Bias, parts.Load = whole.Bias, true
		l.Multiply(&parts, wide)
		for i, v := range whole.Dst {
			if math.Float32bits(v) != math.Float32bits(parts.Dst[i]) {
				t.Fatalf("element %d: %g and %g", i, v, parts.Dst[i])
			}
		}
	})
}

// The vector levels take the same fused sums in the same order: a tile has the same bits at all of them.
func TestMultiply_TakesFusedSumsInOrder(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		if l == Generic {
			t.Skip("the Go code may round products")
		}
		rows, wide, narrow := l.TileShape()
		for _, width := range []int{wide, narrow} {
			tile := tileCase{taps: 2, depth: 30, rows: rows, load: true, tapStride: 31}.build(t, r, rows, width)
			want := append([]float32(nil), tile.Dst...)
			for at := range want {
				i, j := at/width, at%width
				for m := range tile.Taps * tile.Depth {
					a := tile.A[tile.Offsets[i]+m/tile.Depth*tile.TapStride+m%tile.Depth]
					want[at] = fused(a, tile.Panel[m*width+j], want[at])
				}
			}
			l.Multiply(&tile, width)
			same(t, fmt.Sprintf("width %d", width), tile.Dst, want)
		}
	})
}

// Sums begin with From, whose rows have the layout of Dst. Prefetching changes nothing, wherever the data
// ends.
func TestMultiply_BeginsWithFromAndAsksAhead(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		rows, wide, narrow := l.TileShape()
		for _, width := range []int{wide, narrow} {
			for n := 1; n <= rows; n++ {
				plain := tileCase{taps: 2, depth: 7, rows: n, load: true, masked: n%2 == 0, relu: true, slack: 3,
					tapStride: 5}.build(t, r, rows, width)
				other := plain
				other.From, other.Dst = copies(t, plain.Dst)[0], random(t, r, len(plain.Dst))
				other.Next, other.Ahead = 1<<20, fenced(t, 1)
				l.Multiply(&plain, width)
				l.Multiply(&other, width)
				for i := range n {
					same(t, fmt.Sprintf("%d rows, row %d", n, i), other.Dst[i*plain.DstStride:][:width],
						plain.Dst[i*plain.DstStride:][:width])
				}
			}
		}
	})
}

func TestMultiply_NaNSurvivesReLU(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		rows, wide, narrow := l.TileShape()
		for _, width := range []int{wide, narrow} {
			tile := tileCase{taps: 1, depth: 4, rows: rows, relu: true}.build(t, r, rows, width)
			tile.Panel[width-1] = float32(math.NaN())
			l.Multiply(&tile, width)
			for i, v := range tile.Dst {
				if isNaN := v != v; isNaN != (i%width == width-1) {
					t.Fatalf("width %d, element %d: %g", width, i, v)
				}
			}
		}
	})
}

func TestMultiply_RefusesSlicesThatAreTooShort(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		rows, wide, _ := l.TileShape()
		good := tileCase{taps: 2, depth: 3, rows: rows, biased: true, masked: true, tapStride: 5}
		refusesChanged(t, func() Tile { return good.build(t, r, rows, wide) }, func(x *Tile) { l.Multiply(x, wide) },
			map[string]func(*Tile){
				"A":       func(x *Tile) { x.A = x.A[:len(x.A)-1] },
				"offset":  func(x *Tile) { x.Offsets[rows-1] = -1 },
				"offsets": func(x *Tile) { x.Offsets = x.Offsets[1:] },
				"panel":   func(x *Tile) { x.Panel = x.Panel[1:] },
				"dst":     func(x *Tile) { x.Dst = x.Dst[1:] },
				"from":    func(x *Tile) { x.From = x.Dst[1:] },
				"bias":    func(x *Tile) { x.Bias = x.Bias[1:] },
				"mask":    func(x *Tile) { x.Mask = x.Mask[1:] },
				"no rows": func(x *Tile) { x.Rows = 0 },
				"rows":    func(x *Tile) { x.Rows = rows + 1 },
			})
	})
}

// refuses checks that calls panic.
func refuses(t *testing.T, calls map[string]func()) {
	t.Helper()
	for name, f := range calls {
		if !panics(f) {
			t.Errorf("%s: accepted", name)
		}
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// refusesChanged checks that a call panics on good arguments after each of the changes.
func refusesChanged[T any](t *testing.T, good func() T, call func(*T), changes map[string]func(*T)) {
	t.Helper()
	for name, change := range changes {
		x := good()
		change(&x)
		if !panics(func() { call(&x) }) {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestOuter_EqualsItsDefinition(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		rows, width := l.OuterShape()
		for _, depth := range []int{0, 1, 2, 7, 300} {
			for n := 1; n <= rows; n++ {
				load, stride := (n+depth)%2 == 0, rows+n-1
				s := Sum{A: random(t, r, max(0, depth-1)*stride+rows), AStride: stride, Panel: random(t, r, depth*width),
					Depth: depth,
					Dst:   random(t, r, (n-1)*(width+n)+width), DstStride: width + n, Rows: n, Load: load}
				before := append([]float32(nil), s.Dst...)
				l.Outer(&s)
				wantRows(t, s.Dst, before, s.DstStride, width, func(i, j int) (v, bound float64) {
					start := float32(0)
					if s.Load {
						start = before[i*s.DstStride+j]
					}
					return products(start, s.Depth, func(m int) (a, b float32) { return s.A[m*stride+i], s.Panel[m*width+j] })
				})
			}
		}
	})
}

func TestTileLevel_CanRunAndChangesNoBit(t *testing.T) {
	levels := Levels()
	for _, l := range levels {
		for _, width := range []int{1, 8, 9, 64} {
			if chosen := l.TileLevel(width); chosen > l || l == Generic && chosen != l {
				t.Errorf("%s: width %d: %s", l, width, chosen)
			}
		}
	}
	if levels[len(levels)-1] != AVX512 {
		t.Skip("this machine has no AVX-512")
	}
	r := rand.New(rand.NewPCG(3, 4))
	_, width, _ := AVX2.TileShape()
	wide := tileCase{taps: 3, depth: 50, rows: 6, load: true, biased: true, relu: true, tapStride: 60}.build(t,
		r, 12, width)
	small := wide
	small.Dst = append([]float32(nil), wide.Dst...)
	AVX512.Multiply(&wide, width)
	AVX2.Multiply(&small, width)
	for i, v := range wide.Dst {
		if math.Float32bits(v) != math.Float32bits(small.Dst[i]) {
			t.Fatalf("element %d: %g and %g", i, v, small.Dst[i])
		}
	}
}
