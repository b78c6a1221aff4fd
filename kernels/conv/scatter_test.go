package conv

import (
	"math/rand/v2"
	"strings"
	"testing"

	"nmn/kernels/tensor"
)

// scatterShapes are those whose data gradient is scattered at every level: several images, panels that are
// cut off, several chunks of the channels, a filter of unequal sides.
var scatterShapes = []shape{
	{2, 4, 14, 37, 300, 3, 3, 0, 1},
	{1, 3, 14, 70, 1600, 2, 3, 0, 1},
}

func TestConvGradData_Scattered(t *testing.T) {
	for _, s := range scatterShapes {
		t.Run(s.String(), func(t *testing.T) {
			p := newProblem(s)
			start := randomFloats(rand.New(rand.NewPCG(3, 4)), len(p.x))
			plain, added := p.gradData(nil, nil), p.gradData(start, nil)
			eachLevel(t, func(t *testing.T, c *CPU) {
				x, w, _, dy := p.tensors(t)
				g, err := Fit("test", x, w, dy, Params{})
				must(t, err)
				if way := c.Algorithm(DataGradient, g); !strings.HasPrefix(way, "scattered") {
					t.Fatalf("the shape is given to %q", way)
				}
				out := newGuarded(nil, x.Shape()...)
				must(t, c.ConvGradData(out.t, dy, w, nil, Params{}))
				out.check(t)
				plain.compare(t, out.t.Float32s())
				out = newGuarded(start, x.Shape()...)
				must(t, c.ConvGradData(out.t, dy, w, nil, Params{Accumulate: true}))
				out.check(t)
				added.compare(t, out.t.Float32s())
				p.sameForMoreThreads(t, c, out.t.Float32s(), start)
			})
		})
	}
}

// sameForMoreThreads compares three threads with want bit for bit. want is a gradient that was added to
// start.
func (p problem) sameForMoreThreads(t *testing.T, c *CPU, want, start []float32) {
	t.Helper()
	dev := tensor.NewCPU(3, c.level.String())
	defer dev.Close()
	x, w, _, dy := p.tensors(t)
	out := newGuarded(start, x.Shape()...)
	must(t, NewCPU(dev, c.level, false).ConvGradData(out.t, dy, w, nil, Params{Accumulate: true}))
	equalBits(t, out.t.Float32s(), want)
}
