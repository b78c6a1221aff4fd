package conv

import (
	"fmt"

	"nmn/kernels/simd"
)

var _ Explainer = (*CPU)(nil)

// Algorithm implements Explainer: the way, the shape of its tiles, and whose instructions they are.
func (c *CPU) Algorithm(pass Pass, g Geometry) string {
	if pass == FilterGradient {
		if c.suitsWinogradSum(&g) {
			return fmt.Sprintf("Winograd F(3×3, 4×4) %v", c.planWinogradSum(&g).level)
		}
		rows, width := c.level.OuterShape()
		if flat := g.flat(); c.suitsCross(&flat) {
			rows, width = c.level.CrossShape()
		}
		return tiles("outer products", rows, width, c.level)
	}
	g = g.flat()
	k := g.forward()
	switch {
	case pass == DataGradient && g.Stride > 1: // of its phases, that with most taps
		k = g.phase((g.Stride-g.Pad%g.Stride)%g.Stride%g.H, (g.Stride-g.Pad%g.Stride)%g.Stride%g.W)
	case pass == DataGradient:
		k = g.dataGradient()
	}
	if k.n*k.p*k.q*k.width == 0 {
		return "nothing to compute"
	}
	if c.suitsWinograd(&k) {
		w := c.planWinograd(&k)
		return fmt.Sprintf("Winograd F(4×4, 3×3) %v", w.level)
	}
	pl := c.planCorrelation(&k)
	name := "implicit GEMM"
	switch {
	case pl.way == scattered:
		name = "scattered GEMM"
	case pl.way == overImages:
		name = "GEMM over pictures"
	case k.r*k.s == 1:
		name = "GEMM"
	}
	return tiles(name, pl.rows, pl.wide, pl.level)
}

func tiles(way string, rows, width int, level simd.Level) string {
	return fmt.Sprintf("%s %d×%d %v", way, rows, width, level)
}
