package conv

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/kernels/tensor"
)

// result is the result of a call on a problem, to compare with a direct sum.
type result struct {
	name  string
	start []float32 // of the destination, nil for NaN
	want  func() reference
	run   func(c *CPU, dst *tensor.Tensor, o operands) error
}

type operands struct{ x, w, b, y *tensor.Tensor }

// results lists the results of operations whose names begin with a prefix. A result in place has the bits of the one
// before it.
func (p problem) results(prefix string) []result {
	random := rand.New(rand.NewPCG(3, 4))
	held, heldFilter := randomFloats(random, len(p.x)), randomFloats(random, len(p.w))
	plain := Params{Pad: p.Pad, Stride: p.Stride}
	relu, added := plain, plain
	relu.ReLU, added.Accumulate = true, true // each has no effect on the other direction
	shortcut := func() reference { return p.forward(true, true, p.y) }
	masked := func() reference { return p.gradData(nil, p.x) }
	all := []result{
		{"Conv", nil, func() reference { return p.forward(false, false, nil) },
			func(c *CPU, dst *tensor.Tensor, o operands) error { return c.Conv(dst, o.x, o.w, nil, added) }},
		{"Conv with bias and ReLU", nil, func() reference { return p.forward(true, true, nil) },
			func(c *CPU, dst *tensor.Tensor, o operands) error { return c.Conv(dst, o.x, o.w, o.b, relu) }},
		{"ConvAdd", nil, shortcut,
			func(c *CPU, dst *tensor.Tensor, o operands) error { return c.ConvAdd(dst, o.x, o.w, o.b, o.y, relu) }},
		{"ConvAdd in place", p.y, shortcut,
			func(c *CPU, dst *tensor.Tensor, o operands) error { return c.ConvAdd(dst, o.x, o.w, o.b, dst, relu) }},
		{"ConvGradData", nil, func() reference { return p.gradData(nil, nil) },
			func(c *CPU, dst *tensor.Tensor, o operands) error { return c.ConvGradData(dst, o.y, o.w, nil, relu) }},
		{"ConvGradData accumulated", held, func() reference { return p.gradData(held, nil) },
			func(c *CPU, dst *tensor.Tensor, o operands) error { return c.ConvGradData(dst, o.y, o.w, nil, added) }},
		{"ConvGradData accumulated and masked", held, func() reference { return p.gradData(held, p.x) },
			func(c *CPU, dst *tensor.Tensor, o operands) error { return c.ConvGradData(dst, o.y, o.w, o.x, added) }},
		{"ConvGradData masked", nil, masked,
			func(c *CPU, dst *tensor.Tensor, o operands) error { return c.ConvGradData(dst, o.y, o.w, o.x, plain) }},
		{"ConvGradData masked in place", p.x, masked,
			func(c *CPU, dst *tensor.Tensor, o operands) error { return c.ConvGradData(dst, o.y, o.w, dst, plain) }},
		{"ConvGradFilter", nil, func() reference { return p.gradFilter(nil) },
			func(c *CPU, dst *tensor.Tensor, o operands) error { return c.ConvGradFilter(dst, o.x, o.y, plain) }},
		{"ConvGradFilter accumulated", heldFilter, func() reference { return p.gradFilter(heldFilter) },
			func(c *CPU, dst *tensor.Tensor, o operands) error { return c.ConvGradFilter(dst, o.x, o.y, added) }},
		{"ConvGradBias", nil, func() reference { return p.gradBias(nil) },
			func(c *CPU, dst *tensor.Tensor, o operands) error { return c.ConvGradBias(dst, o.y, plain) }},
		{"ConvGradBias accumulated", p.b, func() reference { return p.gradBias(p.b) },
			func(c *CPU, dst *tensor.Tensor, o operands) error { return c.ConvGradBias(dst, o.y, added) }},
	}
	return slices.DeleteFunc(all, func(r result) bool { return !strings.HasPrefix(r.name, prefix) })
}

// compute returns a destination after the call.
func (r result) compute(t *testing.T, p problem, c *CPU) guarded {
	t.Helper()
	x, w, b, y := p.tensors(t)
	like := y
	for part, of := range map[string]*tensor.Tensor{"GradData": x, "GradFilter": w, "GradBias": b} {
		if strings.Contains(r.name, part) {
			like = of
		}
	}
	out := newGuarded(r.start, like.Shape()...)
	expect.OK(t, r.run(c, out.t, operands{x, w, b, y}))
	out.check(t)
	return out
}

// check compares results with direct sums.
func (p problem) check(t *testing.T, c *CPU, results []result, compare func(reference, *testing.T, []float32)) {
	var before []float32
	for _, r := range results {
		t.Run(r.name, func(t *testing.T) {
			got := r.compute(t, p, c).t.Float32s()
			compare(r.want(), t, got)
			if strings.HasSuffix(r.name, "in place") {
				equalBits(t, got, before)
			}
			before = got
		})
	}
}

// sameBits compares results by one thread with those by more.
func (p problem) sameBits(t *testing.T, results []result, open func(threads int) *CPU) {
	t.Helper()
	alone := open(1)
	var others []*CPU
	for _, threads := range []int{2, 3, 5} {
		others = append(others, open(threads))
	}
	for _, r := range results {
		want := r.compute(t, p, alone).t.Float32s()
		for _, c := range others {
			equalBits(t, r.compute(t, p, c).t.Float32s(), want)
		}
	}
}
