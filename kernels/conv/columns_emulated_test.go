//go:build cuda && emulate

package conv

import (
	"math/rand/v2"
	"strings"
	"testing"

	"nmn/kernels/tensor"
)

// A data gradient by columns equals a plan's, up to the rounding of the columns, and reports name the
// algorithm.
func TestCUDA_ComputesDataGradientsByColumns(t *testing.T) {
	c := convolving(t)
	for dtype, tolerance := range map[tensor.DType]float64{tensor.Float32: 1e-6, tensor.BFloat16: 4e-3} {
		g := Geometry{N: 3, H: 6, W: 5, C: 64, K: 512, R: 4, S: 3, P: 3, Q: 3, Stride: 1}
		r := rand.New(rand.NewPCG(8, 9))
		var all [4]*tensor.Tensor // dx by columns, dx by a plan, dy, w
		for i, dims := range [...][]int{{g.N, g.H, g.W, g.C}, {g.N, g.H, g.W, g.C}, {g.N, g.P, g.Q, g.K},
			{g.K, g.R, g.S, g.C}} {
			var err error
			if all[i], err = c.device.Alloc(dtype, dims...); err != nil {
				t.Fatal(err)
			}
			fill(t, c, all[i], func() float32 { return float32(r.NormFloat64()) })
		}
		for i, most := range []int{mostElements, g.N * g.P * g.Q * g.K} { // more columns than that are not made
			c.most = most
			if err := c.ConvGradData(all[i], all[2], all[3], nil, Params{}); err != nil {
				t.Fatal(err)
			}
			how := c.Algorithm(DataGradient, g)
			if by := strings.HasSuffix(how, " by columns"); by != (i == 0) {
				t.Errorf("%v with %d elements: computed as %q", dtype, most, how)
			}
		}
		if e := apartBy(values(t, c, all[0]), values(t, c, all[1])); !(e <= tolerance) {
			t.Errorf("%v: apart by %.2g, at most %.2g", dtype, e, tolerance)
		}
	}
}
