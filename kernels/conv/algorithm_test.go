package conv

import (
	"fmt"
	"strings"
	"testing"

	"nmn/kernels/simd"
)

func TestAlgorithm_TellsWayAndTiles(t *testing.T) {
	vgg := Geometry{N: 4, H: 56, W: 56, C: 128, K: 256, R: 3, S: 3, P: 56, Q: 56, Pad: 1}
	odd := Geometry{N: 4, H: 56, W: 56, C: 120, K: 256, R: 3, S: 3, P: 56, Q: 56, Pad: 1}
	small := Geometry{N: 32, H: 5, W: 5, C: 64, K: 120, R: 3, S: 3, P: 5, Q: 5, Pad: 1}
	fc := Geometry{N: 4, H: 7, W: 7, C: 512, K: 4096, R: 7, S: 7, P: 1, Q: 1}
	eachLevel(t, func(t *testing.T, c *CPU) {
		rows, wide, _ := c.level.TileShape()
		outerRows, outerWide := c.level.OuterShape()
		crossRows, crossWide := c.level.CrossShape()
		for _, test := range []struct {
			pass Pass
			g    Geometry
			want string
		}{
			{Forward, vgg, fmt.Sprintf("Winograd F(4×4, 3×3) %v", c.level)},
			{DataGradient, vgg, fmt.Sprintf("Winograd F(4×4, 3×3) %v", c.level)},
			{Forward, odd, fmt.Sprintf("implicit GEMM %d×%d %v", rows, wide, c.level)},
			{Forward, small, fmt.Sprintf("GEMM over pictures %d×%d %v", rows, wide, c.level)},
			{Forward, fc, fmt.Sprintf("GEMM %d×%d %v", rows, wide, c.level)},
			{FilterGradient, vgg, fmt.Sprintf("Winograd F(3×3, 4×4) %v", c.level)},
			{FilterGradient, odd, fmt.Sprintf("outer products %d×%d %v", crossRows, crossWide, c.level)},
			{FilterGradient, fc, fmt.Sprintf("outer products %d×%d %v", outerRows, outerWide, c.level)},
		} {
			if got := c.Algorithm(test.pass, test.g); got != test.want {
				t.Errorf("%v of %+v: %q, want %q", test.pass, test.g, got, test.want)
			}
		}
		if got := c.Algorithm(Forward, Geometry{R: 3, S: 3, Pad: 1}); got != "nothing to compute" {
			t.Errorf("an empty shape: %q", got)
		}
	})
}

// The narrow outputs that TileLevel gives to AVX2 are reported as such.
func TestAlgorithm_TellsALowerLevel(t *testing.T) {
	narrow := Geometry{N: 8, H: 24, W: 24, C: 16, K: 8, R: 3, S: 3, P: 24, Q: 24, Pad: 1}
	eachLevel(t, func(t *testing.T, c *CPU) {
		want := c.level.TileLevel(narrow.K)
		if got := c.Algorithm(Forward, narrow); !strings.HasSuffix(got, " "+want.String()) || c.level == simd.AVX512 &&
			want == c.level {
			t.Errorf("%q, want the tiles of %v", got, want)
		}
	})
}
