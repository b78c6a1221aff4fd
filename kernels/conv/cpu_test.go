package conv

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// eachLevel runs a test for every level that the machine supports, with a pool of two.
func eachLevel(t *testing.T, f func(t *testing.T, c *CPU)) {
	for _, level := range simd.Levels() {
		t.Run("simd="+level.String(), func(t *testing.T) {
			dev := tensor.NewCPU(2, level.String())
			defer dev.Close()
			f(t, NewCPU(dev, level, false))
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

// some are all shapes, under -short every third.
func some(shapes []shape) (list []shape) {
	for i, s := range shapes {
		if i%3 == 0 || !testing.Short() {
			list = append(list, s)
		}
	}
	return list
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
			must(t, c.Conv(out.t, x, w, nil, Params{Pad: p.pad, Stride: p.stride, Accumulate: true}))
			out.check(t)
			plain.compare(t, out.t.Float32s())
			must(t, c.Conv(out.t, x, w, b, Params{Pad: p.pad, Stride: p.stride, ReLU: true}))
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
			must(t, c.ConvGradData(out.t, dy, w, nil, Params{Pad: p.pad, Stride: p.stride, ReLU: true}))
			out.check(t)
			plain.compare(t, out.t.Float32s())
			out = newGuarded(start, x.Shape()...)
			must(t, c.ConvGradData(out.t, dy, w, x, Params{Pad: p.pad, Stride: p.stride, Accumulate: true}))
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
			must(t, c.ConvGradData(apart.t, dy, w, x, Params{Pad: p.pad, Stride: p.stride}))
			same := newGuarded(p.x, x.Shape()...)
			must(t, c.ConvGradData(same.t, dy, w, same.t, Params{Pad: p.pad, Stride: p.stride}))
			same.check(t)
			equalBits(t, same.t.Float32s(), apart.t.Float32s())
		})
	})
}

func TestConvGradFilter_EqualsDirectSum(t *testing.T) {
	eachProblem(t, func(t *testing.T, p problem) { checkGradFilter(t, p, nil) })
}

// checkGradFilter compares the filter gradient of a problem with the direct sum, at each level. It calls
// before with the level and the problem first.
func checkGradFilter(t *testing.T, p problem, before func(t *testing.T, c *CPU)) {
	start := randomFloats(rand.New(rand.NewPCG(5, 6)), len(p.w))
	plain, added := p.gradFilter(nil), p.gradFilter(start)
	eachLevel(t, func(t *testing.T, c *CPU) {
		if before != nil {
			before(t, c)
		}
		x, w, _, dy := p.tensors(t)
		out := newGuarded(nil, w.Shape()...)
		must(t, c.ConvGradFilter(out.t, x, dy, Params{Pad: p.pad, Stride: p.stride}))
		out.check(t)
		plain.compare(t, out.t.Float32s())
		out = newGuarded(start, w.Shape()...)
		must(t, c.ConvGradFilter(out.t, x, dy, Params{Pad: p.pad, Stride: p.stride, Accumulate: true}))
		out.check(t)
		added.compare(t, out.t.Float32s())
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

// A shortcut is added before ReLU, whether it is the memory of the output or not.
func TestConvAdd_IsConvAndShortcut(t *testing.T) {
	eachProblem(t, func(t *testing.T, p problem) {
		want := p.forward(true, false)
		for i, v := range p.y {
			want.add(i, float64(v))
			want.value[i] = max(0, want.value[i])
		}
		eachLevel(t, func(t *testing.T, c *CPU) {
			x, w, b, shortcut := p.tensors(t)
			params := Params{Pad: p.pad, Stride: p.stride, ReLU: true}
			apart := newGuarded(nil, shortcut.Shape()...)
			must(t, c.ConvAdd(apart.t, x, w, b, shortcut, params))
			apart.check(t)
			want.compare(t, apart.t.Float32s())
			same := newGuarded(p.y, shortcut.Shape()...)
			must(t, c.ConvAdd(same.t, x, w, b, same.t, params))
			equalBits(t, same.t.Float32s(), apart.t.Float32s())
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

// results runs all operations.
func (p problem) results(t testing.TB, threads int, level simd.Level) [][]float32 {
	dev := tensor.NewCPU(threads, level.String())
	defer dev.Close()
	return p.resultsOf(t, NewCPU(dev, level, false))
}

func (p problem) resultsOf(t testing.TB, c *CPU) [][]float32 {
	x, w, b, y := p.tensors(t)
	out := [][]float32{make([]float32, y.Len()), make([]float32, x.Len()), make([]float32, w.Len()),
		make([]float32, b.Len()), make([]float32, y.Len())}
	must(t, c.Conv(of(t, out[0], y.Shape()...), x, w, b, Params{Pad: p.pad, Stride: p.stride, ReLU: true}))
	must(t, c.ConvGradData(of(t, out[1], x.Shape()...), y, w, x, Params{Pad: p.pad, Stride: p.stride}))
	must(t, c.ConvGradFilter(of(t, out[2], w.Shape()...), x, y, Params{Pad: p.pad, Stride: p.stride}))
	must(t, c.ConvGradBias(of(t, out[3], b.Shape()...), y, Params{}))
	must(t, c.ConvAdd(of(t, out[4], y.Shape()...), x, w, b, y, Params{Pad: p.pad, Stride: p.stride, ReLU: true}))
	return out
}

func TestResults_SameBitsForAnyNumberOfThreads(t *testing.T) {
	more := []shape{{9, 24, 24, 16, 32, 3, 3, 1, 1}, {4, 40, 40, 3, 16, 3, 3, 1, 1}, {9, 6, 6, 64, 72, 3, 3, 0, 1}}
	for _, s := range some(append(more, shapes...)) {
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

func TestConv_KeepsNaN(t *testing.T) {
	eachLevel(t, func(t *testing.T, c *CPU) {
		for _, k := range []int{36, 64} {
			p := newProblem(shape{1, 5, 5, 16, k, 3, 3, 1, 1})
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
			p := newProblem(shape{1, 4, 4, channels, 16, 3, 3, 1, 1})
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
	c := NewCPU(dev, simd.Generic, false)
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
