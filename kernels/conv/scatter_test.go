package conv

import (
	"strings"
	"testing"

	"nmn/internal/expect"
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
			eachLevel(t, func(t *testing.T, c *CPU) {
				x, w, _, dy := p.tensors(t)
				g, err := Fit("test", x, w, dy, Params{})
				expect.OK(t, err)
				if way := c.Algorithm(DataGradient, g); !strings.HasPrefix(way, "scattered") {
					t.Fatalf("the shape is given to %q", way)
				}
				p.check(t, c, p.results("ConvGradData"), reference.compare)
				p.sameBits(t, p.results("ConvGradData"), func(threads int) *CPU { return openCPU(t, threads, c.level) })
			})
		})
	}
}
