package conv

import (
	"math"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// always is a rule that gives Winograd's algorithm all shapes that it can compute.
func always(int, int, int, int, int) bool { return true }

// winogradShapes have tiles cut off on each side, one tile, several runs and blocks, panels of every width,
// and all paddings.
var winogradShapes = []shape{
	{1, 1, 1, 16, 16, 3, 3, 1, 1},
	{1, 4, 4, 16, 32, 3, 3, 1, 1},
	{2, 5, 7, 32, 16, 3, 3, 1, 1},
	{3, 8, 6, 16, 48, 3, 3, 0, 1},
	{1, 3, 9, 48, 64, 3, 3, 2, 1},
	{1, 22, 30, 16, 16, 3, 3, 1, 1},
	{2, 22, 30, 32, 48, 3, 3, 1, 1},
	{1, 6, 7, 176, 176, 3, 3, 1, 1}, // filters that each task transforms for itself, many sums
}

// winogradCPU computes by Winograd's algorithm whatever it can.
func winogradCPU(t testing.TB, threads int, level simd.Level) *CPU {
	c := openCPU(t, threads, level)
	c.worthWinograd = always
	return c
}

// eachWinograd runs a test for every shape and level.
func eachWinograd(t *testing.T, f func(t *testing.T, p problem, c *CPU)) {
	for _, s := range some(winogradShapes) {
		p := newProblem(s)
		for _, level := range simd.Levels() {
			t.Run(s.String()+"/simd="+level.String(), func(t *testing.T) { f(t, p, winogradCPU(t, 2, level)) })
		}
	}
}

// offNorm is the norm of the error divided by the norm of the result.
func (r reference) offNorm(got []float32) float64 {
	off, norm := 0., 0.
	for i, want := range r.value {
		d := float64(got[i]) - want
		off, norm = off+d*d, norm+want*want
	}
	return math.Sqrt(off / norm)
}

// compareWinograd checks a result against the accuracy in docs/background/cpu.md: for each element a bound
// relative to the largest, because errors spread over a tile, and for all of them a norm.
func (r reference) compareWinograd(t *testing.T, got []float32) {
	t.Helper()
	largest := 0.
	for _, bound := range r.bound {
		largest = max(largest, bound)
	}
	for i, want := range r.value {
		if !(math.Abs(float64(got[i])-want) <= 3e-6*largest) {
			t.Fatalf("element %d of %d: got %g, want %g", i, len(got), got[i], want)
		}
	}
	if off := r.offNorm(got); !(off <= 4e-6) {
		t.Errorf("the error's norm is %.2g of the result's, want 4e-6", off)
	}
}

func TestWinograd_EqualsDirectSum(t *testing.T) {
	eachWinograd(t, func(t *testing.T, p problem, c *CPU) {
		p.check(t, c, slices.DeleteFunc(p.results(""), ofBias), reference.compareWinograd)
	})
}

// ofBias are results that no algorithm of convolutions computes.
func ofBias(r result) bool { return strings.HasPrefix(r.name, "ConvGradBias") }

func TestWinograd_SameBitsForAnyNumberOfThreads(t *testing.T) {
	eachWinograd(t, func(t *testing.T, p problem, c *CPU) {
		p.sameBits(t, p.results(""), func(threads int) *CPU { return winogradCPU(t, threads, c.level) })
	})
}

func TestWinograd_AllocatesNothingInSteadyState(t *testing.T) {
	for _, level := range simd.Levels() {
		c := winogradCPU(t, 3, level)
		for _, s := range winogradShapes[1:5] {
			p := newProblem(s)
			x, w, b, y := p.tensors(t)
			dx, dw := of(t, make([]float32, x.Len()), x.Shape()...), of(t, make([]float32, w.Len()), w.Shape()...)
			if n := testing.AllocsPerRun(5, func() {
				expect.OK(t, c.Conv(y, x, w, b, Params{Pad: s.Pad, ReLU: true}))
				expect.OK(t, c.ConvGradFilter(dw, x, y, Params{Pad: s.Pad}))
				expect.OK(t, c.ConvGradData(dx, y, w, x, Params{Pad: s.Pad}))
			}); n != 0 {
				t.Errorf("%s, %v: a step allocates %g times", level, s, n)
			}
		}
	}
}

// The rule's choice is part of what makes runs repeatable. It must not depend on threads or level, and exact
// devices must not use the algorithm.
func TestWinograd_ChosenByShape(t *testing.T) {
	vgg := Geometry{N: 1, H: 56, W: 56, C: 128, K: 256, R: 3, S: 3, P: 56, Q: 56, Pad: 1}
	few, odd, first, large := vgg, vgg, vgg, vgg
	few.H, few.W, few.P, few.Q = 5, 5, 5, 5
	odd.C = 120
	first.C = 3
	large.R, large.S, large.P, large.Q = 5, 5, 54, 54
	for _, level := range simd.Levels() {
		dev := tensor.NewCPU(1, "")
		defer dev.Close()
		c, exact := NewCPU(dev, level, false), NewCPU(dev, level, true)
		for _, test := range []struct {
			g    Geometry
			want bool
		}{{vgg, true}, {few, false}, {odd, false}, {first, false}, {large, false}} {
			for _, k := range []correlation{test.g.forward(), test.g.dataGradient()} {
				if got := c.suitsWinograd(&k); got != test.want {
					t.Errorf("%s: %+v: %t, want %t", level, test.g, got, test.want)
				}
				if exact.suitsWinograd(&k) {
					t.Errorf("%s: an exact device transforms %+v", level, test.g)
				}
			}
			if got := c.suitsWinogradSum(&test.g); got != test.want {
				t.Errorf("%s: filter gradient of %+v: %t, want %t", level, test.g, got, test.want)
			}
			if exact.suitsWinogradSum(&test.g) {
				t.Errorf("%s: an exact device transforms the gradient of %+v", level, test.g)
			}
		}
	}
}
