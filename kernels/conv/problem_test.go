package conv

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"nmn/internal/expect"
	"nmn/kernels/tensor"
	"nmn/tools/ref"
)

// shape is the shape of a convolution.
type shape ref.Conv

func (s shape) String() string {
	return fmt.Sprintf("%d×%d×%d×%d,%d×%d×%d,pad=%d,stride=%d", s.N, s.H, s.W, s.C, s.K, s.R, s.S, s.Pad, s.Stride)
}

func (s shape) out() (p, q int) { return ref.Conv(s).P(), ref.Conv(s).Q() }

// shapes hit the borders of tiles, panels, blocks and chunks: one below, at and one above.
var shapes = []shape{
	{1, 1, 1, 1, 1, 1, 1, 0, 1},
	{1, 1, 1, 3, 5, 3, 3, 1, 1},
	{2, 5, 7, 3, 4, 3, 3, 1, 1},
	{1, 3, 4, 16, 16, 3, 3, 1, 1},
	{2, 4, 3, 17, 31, 3, 3, 1, 1},
	{1, 4, 3, 31, 33, 3, 3, 1, 1},
	{3, 2, 2, 32, 32, 1, 1, 0, 1},
	{1, 13, 1, 47, 15, 1, 1, 0, 1},
	{5, 1, 1, 49, 48, 1, 1, 0, 1},
	{2, 3, 3, 12, 65, 3, 3, 0, 1}, // the filter covers the input
	{1, 6, 5, 8, 20, 3, 3, 0, 1},
	{2, 6, 6, 4, 7, 5, 3, 2, 1}, // a filter of unequal sides
	{1, 7, 9, 2, 3, 1, 4, 0, 1},
	{1, 9, 7, 2, 3, 4, 1, 0, 1},
	{3, 21, 23, 5, 9, 3, 3, 1, 1},  // several blocks in an image
	{70, 3, 3, 6, 10, 3, 3, 1, 1},  // several images in a block
	{1, 5, 5, 300, 12, 7, 7, 3, 1}, // several chunks of the reduction
	{2, 2, 2, 3, 3, 5, 5, 4, 1},
	{0, 4, 4, 3, 2, 3, 3, 1, 1},
	{1, 3, 3, 0, 2, 3, 3, 1, 1},
	{1, 3, 3, 2, 0, 3, 3, 1, 1},
	{2, 7, 6, 5, 33, 1, 1, 0, 2},
	{1, 1, 2, 3, 4, 1, 1, 0, 2},
	{2, 8, 9, 16, 32, 3, 3, 1, 2},
	{13, 5, 6, 3, 20, 3, 3, 1, 2},  // tiles over pictures
	{1, 51, 37, 3, 17, 7, 7, 3, 2}, // several blocks in an image
	{1, 9, 8, 300, 12, 5, 5, 2, 2}, // several chunks of the reduction
	{1, 6, 11, 2, 3, 2, 3, 0, 3},   // windows that skip no pixel, and a map whose end meets none
	{2, 10, 9, 4, 5, 2, 2, 0, 4},   // and that skip some
	{1, 6, 7, 2, 3, 3, 3, 2, 2},    // more padding than the taps of a phase need
	{1, 4, 4, 2, 0, 3, 3, 1, 2},
	{0, 4, 4, 2, 3, 3, 3, 1, 2},
}

// large shapes take the path of filters that are too large to be packed as a whole.
var largeShapes = []shape{
	{1, 7, 7, 128, 680, 7, 7, 0, 1},
	{1, 8, 7, 96, 900, 7, 7, 0, 1},
	{1, 2, 2, 40, 2150, 7, 7, 3, 1},
}

type problem struct {
	shape
	x, w, b, y []float32 // y: the gradient dy in tests of gradients

	products map[string]reference // sums of products alone, by the result
}

func randomFloats(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

func newProblem(s shape) problem {
	r := rand.New(rand.NewPCG(17, uint64(s.N*1000+s.H*100+s.C*10+s.K)))
	p, q := s.out()
	return problem{
		shape: s,
		x:     randomFloats(r, s.N*s.H*s.W*s.C), w: randomFloats(r, s.K*s.R*s.S*s.C),
		b: randomFloats(r, s.K), y: randomFloats(r, s.N*p*q*s.K),
		products: map[string]reference{},
	}
}

// reference holds a result in float64 and the sum of magnitudes that bounds its rounding errors.
type reference struct{ value, bound []float64 }

func (r reference) add(i int, v float64) {
	r.value[i] += v
	r.bound[i] += math.Abs(v)
}

// compare fails if a result differs by more than rounding explains, or is NaN.
func (r reference) compare(t *testing.T, got []float32) {
	t.Helper()
	for i, want := range r.value {
		if !(math.Abs(float64(got[i])-want) <= 4e-6*r.bound[i]+1e-30) {
			t.Fatalf("element %d of %d: got %g, want %g", i, len(got), got[i], want)
		}
	}
}

// sums are the sums of products of a and b that f makes, on top of start.
func (p problem) sums(name string, start, a, b []float32, f func(a, b []float64) []float64) reference {
	products, known := p.products[name]
	if !known {
		keep := func(v float64) float64 { return v }
		products = reference{f(float64s(a, keep), float64s(b, keep)), f(float64s(a, math.Abs), float64s(b, math.Abs))}
		p.products[name] = products
	}
	r := reference{slices.Clone(products.value), slices.Clone(products.bound)}
	for i, v := range start {
		r.add(i, float64(v))
	}
	return r
}

func float64s(list []float32, f func(float64) float64) []float64 {
	out := make([]float64, len(list))
	for i, v := range list {
		out[i] = f(float64(v))
	}
	return out
}

// forward is the result with bias, with a shortcut that may be nil, and with ReLU.
func (p problem) forward(bias, relu bool, shortcut []float32) reference {
	r := p.sums("y", shortcut, p.x, p.w, func(x, w []float64) []float64 { return ref.Conv(p.shape).Forward(x, w, nil) })
	for i := range r.value {
		if bias {
			r.add(i, float64(p.b[i%p.K]))
		}
		if relu {
			r.value[i] = max(r.value[i], 0)
		}
	}
	return r
}

func (p problem) gradBias(start []float32) reference {
	return p.sums("db", start, p.y, nil, func(dy, _ []float64) []float64 { return ref.Conv(p.shape).GradBias(dy) })
}

func (p problem) gradData(start, mask []float32) reference {
	r := p.sums("dx", start, p.y, p.w, ref.Conv(p.shape).GradData)
	for i, m := range mask {
		if m <= 0 {
			r.value[i], r.bound[i] = 0, 0
		}
	}
	return r
}

func (p problem) gradFilter(start []float32) reference {
	return p.sums("dw", start, p.x, p.y, ref.Conv(p.shape).GradFilter)
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
	expect.OK(t, err)
	return v
}

func (p problem) tensors(t testing.TB) (x, w, b, y *tensor.Tensor) {
	rows, columns := p.out()
	return of(t, p.x, p.N, p.H, p.W, p.C), of(t, p.w, p.K, p.R, p.S, p.C), of(t, p.b, p.K),
		of(t, p.y, p.N, rows, columns, p.K)
}
