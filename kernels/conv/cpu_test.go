package conv

import (
	"errors"
	"math"
	"testing"

	"nmn/internal/expect"
	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// eachLevel runs a test for every level that the machine supports, with a pool of two.
func eachLevel(t *testing.T, f func(t *testing.T, c *CPU)) {
	for _, level := range simd.Levels() {
		t.Run("simd="+level.String(), func(t *testing.T) {
			f(t, openCPU(t, 2, level))
		})
	}
}

// openCPU opens a device that is closed when the test ends.
func openCPU(t testing.TB, threads int, level simd.Level) *CPU {
	dev := tensor.NewCPU(threads, level.String())
	t.Cleanup(func() { _ = dev.Close() })
	return NewCPU(dev, level, false)
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

func TestResults_EqualDirectSums(t *testing.T) {
	eachProblem(t, func(t *testing.T, p problem) {
		eachLevel(t, func(t *testing.T, c *CPU) { p.check(t, c, p.results(""), reference.compare) })
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

func TestResults_SameBitsForAnyNumberOfThreads(t *testing.T) {
	more := []shape{{9, 24, 24, 16, 32, 3, 3, 1, 1}, {4, 40, 40, 3, 16, 3, 3, 1, 1}, {9, 6, 6, 64, 72, 3, 3, 0, 1}}
	for _, s := range some(append(more, shapes...)) {
		t.Run(s.String(), func(t *testing.T) {
			p := newProblem(s)
			for _, level := range simd.Levels() {
				p.sameBits(t, p.results(""), func(threads int) *CPU { return openCPU(t, threads, level) })
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
			expect.OK(t, c.Conv(y, x, w, b, Params{Pad: 1, ReLU: true}))
			for cell := range 25 {
				near := cell/5 >= 1 && cell/5 <= 3 && cell%5 >= 1 && cell%5 <= 3
				for j, v := range p.y[cell*k : cell*k+k] {
					if isNaN := v != v; isNaN != near {
						t.Fatalf("K=%d: output %d of cell %d is %g", k, j, cell, v)
					}
				}
			}
			expect.OK(t, c.ConvGradFilter(w, x, y, Params{Pad: 1}))
			expect.OK(t, c.ConvGradBias(b, y, Params{}))
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
			expect.OK(t, c.ConvGradData(out.t, y, w, x, Params{Pad: 1}))
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
		expect.OK(t, err)
		return v
	}
	x, w, b, y := float(1, 5, 5, 3), float(4, 3, 3, 3), float(4), float(1, 5, 5, 4)
	whole, err := dev.Alloc(tensor.Int32, 1, 5, 5, 3)
	expect.OK(t, err)
	remote, err := tensor.OfAddress(64, tensor.Float32, 1, 5, 5, 3)
	expect.OK(t, err)
	pad := Params{Pad: 1}
	for name, err := range map[string]error{
		"wide padding":       c.Conv(float(1, 9, 9, 4), x, w, b, Params{Pad: 3}),
		"bias rank":          c.Conv(y, x, w, float(4, 1), pad),
		"integers":           c.Conv(y, whole, w, b, pad),
		"nil":                c.Conv(nil, x, w, b, pad),
		"device memory":      c.Conv(y, remote, w, b, pad),
		"bias gradient nil":  c.ConvGradBias(nil, y, Params{}),
		"bias gradient rank": c.ConvGradBias(b, float(5, 4), Params{}),
	} {
		if !errors.Is(err, tensor.ErrShape) {
			t.Errorf("%s: got %v, want ErrShape", name, err)
		}
	}
}
