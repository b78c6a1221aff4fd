package conv

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// shape is a convolution of N×H×W×C with K×R×S×C.
type shape struct{ n, h, w, c, k, r, s, pad int }

func (s shape) String() string {
	return fmt.Sprintf("%d×%d×%d×%d,%d×%d×%d,pad=%d", s.n, s.h, s.w, s.c, s.k, s.r, s.s, s.pad)
}

func (s shape) out() (p, q int) { return s.h + 2*s.pad - s.r + 1, s.w + 2*s.pad - s.s + 1 }

// shapes hit the borders of tiles, panels, blocks and chunks: one below, at and one above.
var shapes = []shape{
	{1, 1, 1, 1, 1, 1, 1, 0},
	{1, 1, 1, 3, 5, 3, 3, 1},
	{2, 5, 7, 3, 4, 3, 3, 1},
	{1, 3, 4, 16, 16, 3, 3, 1},
	{2, 4, 3, 17, 31, 3, 3, 1},
	{1, 4, 3, 31, 33, 3, 3, 1},
	{3, 2, 2, 32, 32, 1, 1, 0},
	{1, 13, 1, 47, 15, 1, 1, 0},
	{5, 1, 1, 49, 48, 1, 1, 0},
	{2, 3, 3, 12, 65, 3, 3, 0}, // the filter covers the input
	{1, 6, 5, 8, 20, 3, 3, 0},
	{2, 6, 6, 4, 7, 5, 3, 2}, // a filter of unequal sides
	{1, 7, 9, 2, 3, 1, 4, 0},
	{1, 9, 7, 2, 3, 4, 1, 0},
	{3, 21, 23, 5, 9, 3, 3, 1},  // several blocks in an image
	{70, 3, 3, 6, 10, 3, 3, 1},  // several images in a block
	{1, 5, 5, 300, 12, 7, 7, 3}, // several chunks of the reduction
	{2, 2, 2, 3, 3, 5, 5, 4},
	{0, 4, 4, 3, 2, 3, 3, 1},
	{1, 3, 3, 0, 2, 3, 3, 1},
	{1, 3, 3, 2, 0, 3, 3, 1},
}

// large shapes take the path of filters that are too large to be packed as a whole.
var largeShapes = []shape{
	{1, 7, 7, 128, 680, 7, 7, 0},
	{1, 8, 7, 96, 900, 7, 7, 0},
	{1, 2, 2, 40, 2150, 7, 7, 3},
}

type problem struct {
	shape
	x, w, b, y []float32 // y: the gradient dy in tests of gradients
}

func randomFloats(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

func newProblem(s shape) problem {
	r := rand.New(rand.NewPCG(17, uint64(s.n*1000+s.h*100+s.c*10+s.k)))
	p, q := s.out()
	return problem{
		shape: s,
		x:     randomFloats(r, s.n*s.h*s.w*s.c), w: randomFloats(r, s.k*s.r*s.s*s.c),
		b: randomFloats(r, s.k), y: randomFloats(r, s.n*p*q*s.k),
	}
}

// each calls f with the indices of the two factors and the output of every product.
func (s shape) each(f func(x, w, y int)) {
	p, q := s.out()
	for n := range s.n {
		for i := range p {
			for j := range q {
				for k := range s.k {
					for r := range s.r {
						for t := range s.s {
							h, w := i+r-s.pad, j+t-s.pad
							if h < 0 || h >= s.h || w < 0 || w >= s.w {
								continue
							}
							x0, w0 := ((n*s.h+h)*s.w+w)*s.c, ((k*s.r+r)*s.s+t)*s.c
							for c := range s.c {
								f(x0+c, w0+c, ((n*p+i)*q+j)*s.k+k)
							}
						}
					}
				}
			}
		}
	}
}

// reference holds a result in float64 and the sum of magnitudes that bounds its rounding errors.
type reference struct{ value, bound []float64 }

func newReference(start []float32, n int) reference {
	r := reference{make([]float64, n), make([]float64, n)}
	for i, v := range start {
		r.value[i], r.bound[i] = float64(v), math.Abs(float64(v))
	}
	return r
}

func (r reference) add(i int, v float64) {
	r.value[i] += v
	r.bound[i] += math.Abs(v)
}

// compare fails where a result differs by more than rounding explains, and where it is NaN.
func (r reference) compare(t *testing.T, got []float32) {
	t.Helper()
	for i, want := range r.value {
		if !(math.Abs(float64(got[i])-want) <= 4e-6*r.bound[i]+1e-30) {
			t.Fatalf("element %d of %d: got %g, want %g", i, len(got), got[i], want)
		}
	}
}

func (p problem) forward(bias, relu bool) reference {
	r := newReference(nil, len(p.y))
	p.each(func(x, w, y int) { r.add(y, float64(p.x[x])*float64(p.w[w])) })
	for i := range r.value {
		if bias {
			r.add(i, float64(p.b[i%p.k]))
		}
		if relu {
			r.value[i] = max(r.value[i], 0)
		}
	}
	return r
}

func (p problem) gradData(start, mask []float32) reference {
	r := newReference(start, len(p.x))
	p.each(func(x, w, y int) { r.add(x, float64(p.y[y])*float64(p.w[w])) })
	for i, m := range mask {
		if m <= 0 {
			r.value[i], r.bound[i] = 0, 0
		}
	}
	return r
}

func (p problem) gradFilter(start []float32) reference {
	r := newReference(start, len(p.w))
	p.each(func(x, w, y int) { r.add(w, float64(p.y[y])*float64(p.x[x])) })
	return r
}

// guarded is an output with NaN in it and guard values around.
type guarded struct {
	memory []float32
	t      *tensor.Tensor
}

const guard = 64

func newGuarded(start []float32, shape ...int) guarded {
	n, _ := tensor.Elements(shape)
	g := guarded{memory: make([]float32, n+2*guard)}
	for i := range g.memory {
		g.memory[i] = 12345
	}
	inner := g.memory[guard : guard+n : guard+n]
	for i := range inner {
		inner[i] = float32(math.NaN())
	}
	copy(inner, start)
	g.t, _ = tensor.OfFloat32s(inner, shape...)
	return g
}

func (g guarded) check(t *testing.T) {
	t.Helper()
	n := g.t.Len()
	for i, v := range g.memory {
		if (i < guard || i >= guard+n) && v != 12345 {
			t.Fatalf("wrote %g at %d of an output of %d", v, i-guard, n)
		}
	}
}

func of(t testing.TB, data []float32, shape ...int) *tensor.Tensor {
	t.Helper()
	v, err := tensor.OfFloat32s(data, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (p problem) tensors(t testing.TB) (x, w, b, y *tensor.Tensor) {
	rows, columns := p.out()
	return of(t, p.x, p.n, p.h, p.w2(), p.c), of(t, p.w, p.k, p.r, p.s, p.c), of(t, p.b, p.k), of(t, p.y, p.n, rows, columns, p.k)
}

func (p problem) w2() int { return p.shape.w }

// eachLevel runs a test for every level that the machine supports, with a pool of two.
func eachLevel(t *testing.T, f func(t *testing.T, c *CPU)) {
	for _, level := range simd.Levels() {
		t.Run("simd="+level.String(), func(t *testing.T) {
			dev := tensor.NewCPU(2, level.String())
			defer dev.Close()
			f(t, NewCPU(dev, level))
		})
	}
}

func eachProblem(t *testing.T, f func(t *testing.T, p problem)) {
	all := shapes
	if !testing.Short() {
		all = append(append([]shape(nil), shapes...), largeShapes...)
	}
	for _, s := range all {
		t.Run(s.String(), func(t *testing.T) { f(t, newProblem(s)) })
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestConv_EqualsDirectSum(t *testing.T) {
	eachProblem(t, func(t *testing.T, p problem) {
		plain, clamped := p.forward(false, false), p.forward(true, true)
		eachLevel(t, func(t *testing.T, c *CPU) {
			x, w, b, y := p.tensors(t)
			out := newGuarded(nil, y.Shape()...)
			must(t, c.Conv(out.t, x, w, nil, Params{Pad: p.pad, Accumulate: true}))
			out.check(t)
			plain.compare(t, out.t.Float32s())
			must(t, c.Conv(out.t, x, w, b, Params{Pad: p.pad, ReLU: true}))
			out.check(t)
			clamped.compare(t, out.t.Float32s())
		})
	})
}

func TestConvGradData_EqualsDirectSum(t *testing.T) {
	eachProblem(t, func(t *testing.T, p problem) {
		start := randomFloats(rand.New(rand.NewPCG(3, 4)), len(p.x))
		plain, full := p.gradData(nil, nil), p.gradData(start, p.x)
		eachLevel(t, func(t *testing.T, c *CPU) {
			x, w, _, dy := p.tensors(t)
			out := newGuarded(nil, x.Shape()...)
			must(t, c.ConvGradData(out.t, dy, w, nil, Params{Pad: p.pad, ReLU: true}))
			out.check(t)
			plain.compare(t, out.t.Float32s())
			out = newGuarded(start, x.Shape()...)
			must(t, c.ConvGradData(out.t, dy, w, x, Params{Pad: p.pad, Accumulate: true}))
			out.check(t)
			full.compare(t, out.t.Float32s())
		})
	})
}

func TestConvGradData_InMaskMemoryChangesNoBit(t *testing.T) {
	eachProblem(t, func(t *testing.T, p problem) {
		eachLevel(t, func(t *testing.T, c *CPU) {
			x, w, _, dy := p.tensors(t)
			apart := newGuarded(nil, x.Shape()...)
			must(t, c.ConvGradData(apart.t, dy, w, x, Params{Pad: p.pad}))
			same := newGuarded(p.x, x.Shape()...)
			must(t, c.ConvGradData(same.t, dy, w, same.t, Params{Pad: p.pad}))
			same.check(t)
			equalBits(t, same.t.Float32s(), apart.t.Float32s())
		})
	})
}

func TestConvGradFilter_EqualsDirectSum(t *testing.T) {
	eachProblem(t, func(t *testing.T, p problem) {
		start := randomFloats(rand.New(rand.NewPCG(5, 6)), len(p.w))
		plain, added := p.gradFilter(nil), p.gradFilter(start)
		eachLevel(t, func(t *testing.T, c *CPU) {
			x, w, _, dy := p.tensors(t)
			out := newGuarded(nil, w.Shape()...)
			must(t, c.ConvGradFilter(out.t, x, dy, Params{Pad: p.pad}))
			out.check(t)
			plain.compare(t, out.t.Float32s())
			out = newGuarded(start, w.Shape()...)
			must(t, c.ConvGradFilter(out.t, x, dy, Params{Pad: p.pad, Accumulate: true}))
			out.check(t)
			added.compare(t, out.t.Float32s())
		})
	})
}

func TestConvGradBias_EqualsDirectSum(t *testing.T) {
	eachProblem(t, func(t *testing.T, p problem) {
		plain, added := newReference(nil, p.k), newReference(p.b, p.k)
		for i, v := range p.y {
			plain.add(i%p.k, float64(v))
			added.add(i%p.k, float64(v))
		}
		eachLevel(t, func(t *testing.T, c *CPU) {
			_, _, _, dy := p.tensors(t)
			out := newGuarded(nil, p.k)
			must(t, c.ConvGradBias(out.t, dy, Params{}))
			plain.compare(t, out.t.Float32s())
			out = newGuarded(p.b, p.k)
			must(t, c.ConvGradBias(out.t, dy, Params{Accumulate: true}))
			out.check(t)
			added.compare(t, out.t.Float32s())
		})
	})
}

func equalBits(t *testing.T, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("element %d: %g and %g differ", i, got[i], want[i])
		}
	}
}

// results runs all four operations.
func (p problem) results(t testing.TB, threads int, level simd.Level) [][]float32 {
	dev := tensor.NewCPU(threads, level.String())
	defer dev.Close()
	c := NewCPU(dev, level)
	x, w, b, y := p.tensors(t)
	out := [][]float32{make([]float32, y.Len()), make([]float32, x.Len()), make([]float32, w.Len()), make([]float32, b.Len())}
	must(t, c.Conv(of(t, out[0], y.Shape()...), x, w, b, Params{Pad: p.pad, ReLU: true}))
	must(t, c.ConvGradData(of(t, out[1], x.Shape()...), y, w, x, Params{Pad: p.pad}))
	must(t, c.ConvGradFilter(of(t, out[2], w.Shape()...), x, y, Params{Pad: p.pad}))
	must(t, c.ConvGradBias(of(t, out[3], b.Shape()...), y, Params{}))
	return out
}

func TestResults_SameBitsForAnyNumberOfThreads(t *testing.T) {
	more := []shape{{9, 24, 24, 16, 32, 3, 3, 1}, {4, 40, 40, 3, 16, 3, 3, 1}, {9, 6, 6, 64, 72, 3, 3, 0}}
	for _, s := range append(more, shapes...) {
		t.Run(s.String(), func(t *testing.T) {
			p := newProblem(s)
			for _, level := range simd.Levels() {
				want := p.results(t, 1, level)
				for _, threads := range []int{2, 3, 5} {
					for i, got := range p.results(t, threads, level) {
						equalBits(t, got, want[i])
					}
				}
			}
		})
	}
}

// Whichever worker takes a block, its memory is there after the first call.
func TestSteadyState_AllocatesNothing(t *testing.T) {
	for _, level := range simd.Levels() {
		dev := tensor.NewCPU(3, level.String())
		defer dev.Close()
		c := NewCPU(dev, level)
		for _, s := range []shape{{2, 12, 12, 19, 37, 3, 3, 1}, {13, 4, 4, 5, 37, 3, 3, 1}, {2, 3, 3, 64, 33, 3, 3, 0}, {1, 30, 40, 3, 5, 3, 3, 1}, {1, 5, 5, 300, 12, 7, 7, 3}} {
			p := newProblem(s)
			x, w, b, y := p.tensors(t)
			dx, dw := of(t, make([]float32, x.Len()), x.Shape()...), of(t, make([]float32, w.Len()), w.Shape()...)
			step := func() {
				must(t, c.Conv(y, x, w, b, Params{Pad: s.pad, ReLU: true}))
				must(t, c.ConvGradFilter(dw, x, y, Params{Pad: s.pad}))
				must(t, c.ConvGradData(dx, y, w, x, Params{Pad: s.pad}))
				must(t, c.ConvGradBias(b, y, Params{}))
			}
			for range 10 {
				if n := testing.AllocsPerRun(1, step); n != 0 { // it runs once before it counts
					t.Fatalf("%s, %v: a step allocates %g times", level, s, n)
				}
			}
		}
	}
}

func TestConv_KeepsNaN(t *testing.T) {
	eachLevel(t, func(t *testing.T, c *CPU) {
		for _, k := range []int{36, 64} {
			p := newProblem(shape{1, 5, 5, 16, k, 3, 3, 1})
			p.x[(2*5+2)*16] = float32(math.NaN())
			x, w, b, y := p.tensors(t)
			must(t, c.Conv(y, x, w, b, Params{Pad: 1, ReLU: true}))
			for cell := range 25 {
				near := cell/5 >= 1 && cell/5 <= 3 && cell%5 >= 1 && cell%5 <= 3
				for j, v := range p.y[cell*k : cell*k+k] {
					if isNaN := v != v; isNaN != near {
						t.Fatalf("K=%d: output %d of cell %d is %g", k, j, cell, v)
					}
				}
			}
			must(t, c.ConvGradFilter(w, x, y, Params{Pad: 1}))
			must(t, c.ConvGradBias(b, y, Params{}))
			if p.w[4*16] == p.w[4*16] || p.b[0] == p.b[0] {
				t.Fatalf("K=%d: gradients %g and %g have lost the NaN", k, p.w[4*16], p.b[0])
			}
		}
	})
}

func TestConvGradData_MaskOfNaNKeepsGradient(t *testing.T) {
	eachLevel(t, func(t *testing.T, c *CPU) {
		for _, channels := range []int{20, 32} {
			p := newProblem(shape{1, 4, 4, channels, 16, 3, 3, 1})
			x, w, _, y := p.tensors(t)
			want := p.gradData(nil, nil)
			for i := range p.x {
				p.x[i] = [...]float32{float32(math.NaN()), 0, -1, 1}[i%4]
				if i%4 == 1 || i%4 == 2 {
					want.value[i], want.bound[i] = 0, 0
				}
			}
			out := newGuarded(nil, x.Shape()...)
			must(t, c.ConvGradData(out.t, y, w, x, Params{Pad: 1}))
			want.compare(t, out.t.Float32s())
		}
	})
}

func TestOps_RefuseShapesThatDoNotFit(t *testing.T) {
	dev := tensor.NewCPU(1, "test")
	defer dev.Close()
	c := NewCPU(dev, simd.Generic)
	float := func(shape ...int) *tensor.Tensor {
		v, err := dev.Alloc(tensor.Float32, shape...)
		must(t, err)
		return v
	}
	x, w, b, y := float(1, 5, 5, 3), float(4, 3, 3, 3), float(4), float(1, 5, 5, 4)
	whole, err := dev.Alloc(tensor.Int32, 1, 5, 5, 3)
	must(t, err)
	remote, err := tensor.OfAddress(64, tensor.Float32, 1, 5, 5, 3)
	must(t, err)
	pad := Params{Pad: 1}
	for name, err := range map[string]error{
		"channels":           c.Conv(y, float(1, 5, 5, 2), w, b, pad),
		"padding":            c.Conv(y, x, w, b, Params{}),
		"wide padding":       c.Conv(float(1, 9, 9, 4), x, w, b, Params{Pad: 3}),
		"negative padding":   c.Conv(y, x, w, b, Params{Pad: -1}),
		"small input":        c.Conv(y, float(1, 2, 2, 3), w, b, Params{}),
		"bias":               c.Conv(y, x, w, float(5), pad),
		"bias rank":          c.Conv(y, x, w, float(4, 1), pad),
		"integers":           c.Conv(y, whole, w, b, pad),
		"nil":                c.Conv(nil, x, w, b, pad),
		"device memory":      c.Conv(y, remote, w, b, pad),
		"mask":               c.ConvGradData(x, y, w, y, pad),
		"data gradient":      c.ConvGradData(x, float(1, 4, 5, 4), w, nil, pad),
		"filter gradient":    c.ConvGradFilter(float(4, 3, 2, 3), x, y, pad),
		"bias gradient":      c.ConvGradBias(float(3), y, Params{}),
		"bias gradient nil":  c.ConvGradBias(nil, y, Params{}),
		"bias gradient rank": c.ConvGradBias(b, float(5, 4), Params{}),
	} {
		if !errors.Is(err, tensor.ErrShape) {
			t.Errorf("%s: got %v, want ErrShape", name, err)
		}
	}
}
