package conv

import (
	"testing"

	"nmn/internal/expect"
	"nmn/kernels/simd"
)

// crossShapes are filter gradients whose outer products read the core's own cache: in place and packed, in
// one part or several, with bands and strips that do and do not divide evenly.
var crossShapes = []shape{
	{1, 8, 8, 64, 8, 1, 1, 0, 1},
	{5, 13, 13, 64, 16, 1, 1, 0, 1},
	{1, 20, 20, 272, 16, 1, 1, 0, 1},
	{1, 10, 10, 544, 136, 1, 1, 0, 1},
	{2, 9, 9, 64, 520, 1, 1, 0, 1},
	{1, 12, 13, 96, 1040, 1, 1, 0, 1}, // nothing but bands
	{2, 21, 18, 72, 40, 1, 1, 0, 2},
	{1, 18, 20, 16, 24, 3, 3, 1, 2},
	{3, 11, 10, 40, 16, 3, 3, 1, 2},
	{1, 40, 36, 3, 16, 7, 7, 3, 2},
	{2, 12, 12, 20, 8, 3, 3, 1, 1},
}

func TestCrossFilter_EqualsDirectSum(t *testing.T) {
	for _, s := range some(crossShapes) {
		t.Run(s.String(), func(t *testing.T) {
			p := newProblem(s)
			eachLevel(t, func(t *testing.T, c *CPU) {
				x, w, _, dy := p.tensors(t)
				if g, err := Fit("test", x, w, dy, Params{Pad: p.Pad, Stride: p.Stride}); err != nil {
					t.Fatal(err)
				} else if g = g.flat(); !c.suitsCross(&g) {
					t.Fatalf("%v takes another way", s)
				}
				p.check(t, c, p.results("ConvGradFilter"), reference.compare)
				p.sameBits(t, p.results("ConvGradFilter"), func(threads int) *CPU { return openCPU(t, threads, c.level) })
			})
		})
	}
}

func TestCrossFilter_AllocatesNothing(t *testing.T) {
	for _, s := range some(crossShapes) {
		p := newProblem(s)
		x, w, _, dy := p.tensors(t)
		dw := of(t, make([]float32, w.Len()), w.Shape()...)
		for _, level := range simd.Levels() {
			c := openCPU(t, 2, level)
			step := func() { expect.OK(t, c.ConvGradFilter(dw, x, dy, Params{Pad: s.Pad, Stride: s.Stride})) }
			if n := testing.AllocsPerRun(10, step); n != 0 { // rounded down, for Go allocates by itself now and then
				t.Errorf("%v, %v: a call allocates %g times", level, s, n)
			}
		}
	}
}
