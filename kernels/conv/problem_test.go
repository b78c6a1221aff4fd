package conv

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"nmn/kernels/tensor"
)

// shape is a convolution of N×H×W×C with K×R×S×C.
type shape struct{ n, h, w, c, k, r, s, pad, stride int }

func (s shape) String() string {
	return fmt.Sprintf("%d×%d×%d×%d,%d×%d×%d,pad=%d,stride=%d", s.n, s.h, s.w, s.c, s.k, s.r, s.s, s.pad, s.stride)
}

func (s shape) out() (p, q int) {
	step := max(1, s.stride)
	return (s.h+2*s.pad-s.r)/step + 1, (s.w+2*s.pad-s.s)/step + 1
}

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

	sums map[string]reference // of products alone, by the result
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
		sums: map[string]reference{},
	}
}

// each calls f with the indices of the two factors and the output of the first of C products, whose factors follow
// one another.
func (s shape) each(f func(x, w, y int)) {
	p, q := s.out()
	for n := range s.n {
		for i := range p {
			for j := range q {
				for k := range s.k {
					for r := range s.r {
						for t := range s.s {
							h, w := i*max(1, s.stride)+r-s.pad, j*max(1, s.stride)+t-s.pad
							if h < 0 || h >= s.h || w < 0 || w >= s.w {
								continue
							}
							x0, w0 := ((n*s.h+h)*s.w+w)*s.c, ((k*s.r+r)*s.s+t)*s.c
							f(x0, w0, ((n*p+i)*q+j)*s.k+k)
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

// compare fails if a result differs by more than rounding explains, or is NaN.
func (r reference) compare(t *testing.T, got []float32) {
	t.Helper()
	for i, want := range r.value {
		if !(math.Abs(float64(got[i])-want) <= 4e-6*r.bound[i]+1e-30) {
			t.Fatalf("element %d of %d: got %g, want %g", i, len(got), got[i], want)
		}
	}
}

// from is the sums of products that add makes, on top of start.
func (p problem) from(name string, start []float32, n int, add func(r reference, x, w, y int)) reference {
	sums, known := p.sums[name]
	if !known {
		sums = newReference(nil, n)
		p.each(func(x, w, y int) { add(sums, x, w, y) })
		p.sums[name] = sums
	}
	r := reference{slices.Clone(sums.value), slices.Clone(sums.bound)}
	for i, v := range start {
		r.add(i, float64(v))
	}
	return r
}

// multiply adds the products of a number with a run of others to a run of elements.
func (r reference) multiply(at int, factor float32, others []float32) {
	for i, v := range others {
		r.add(at+i, float64(factor)*float64(v))
	}
}

func (p problem) forward(bias, relu bool) reference {
	r := p.from("y", nil, len(p.y), func(r reference, x, w, y int) {
		sum, bound := 0., 0.
		filter := p.w[w : w+p.c]
		for i, v := range p.x[x : x+p.c] {
			product := float64(v) * float64(filter[i])
			sum, bound = sum+product, bound+math.Abs(product)
		}
		r.value[y], r.bound[y] = r.value[y]+sum, r.bound[y]+bound
	})
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

// withShortcut is the result with bias, shortcut y and ReLU.
func (p problem) withShortcut() reference {
	r := p.forward(true, false)
	for i, v := range p.y {
		r.add(i, float64(v))
		r.value[i] = max(0, r.value[i])
	}
	return r
}

func (p problem) gradBias(start []float32) reference {
	r := newReference(start, p.k)
	for i, v := range p.y {
		r.add(i%p.k, float64(v))
	}
	return r
}

func (p problem) gradData(start, mask []float32) reference {
	r := p.from("dx", start, len(p.x), func(r reference, x, w, y int) { r.multiply(x, p.y[y], p.w[w:w+p.c]) })
	for i, m := range mask {
		if m <= 0 {
			r.value[i], r.bound[i] = 0, 0
		}
	}
	return r
}

func (p problem) gradFilter(start []float32) reference {
	return p.from("dw", start, len(p.w), func(r reference, x, w, y int) { r.multiply(w, p.y[y], p.x[x:x+p.c]) })
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
	must(t, err)
	return v
}

func (p problem) tensors(t testing.TB) (x, w, b, y *tensor.Tensor) {
	rows, columns := p.out()
	return of(t, p.x, p.n, p.h, p.shape.w, p.c), of(t, p.w, p.k, p.r, p.s, p.c), of(t, p.b, p.k),
		of(t, p.y, p.n, rows, columns, p.k)
}
