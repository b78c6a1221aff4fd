//go:build cuda && emulate

package conv

import (
	"fmt"
	"strings"
	"testing"

	"nmn/cuda/cudnn"
	"nmn/internal/expect"
	"nmn/kernels/tensor"
)

// A data gradient by columns equals a plan's, up to the rounding of the columns, and reports name the
// algorithm.
func TestCUDA_ComputesDataGradientsByColumns(t *testing.T) {
	c := convolving(t)
	for dtype, tolerance := range map[tensor.DType]float64{tensor.Float32: 1e-6, tensor.BFloat16: 4e-3} {
		g := Geometry{N: 3, H: 6, W: 5, C: 64, K: 512, R: 4, S: 3, P: 3, Q: 3, Stride: 1}
		normal := normals(8, 9)
		byColumns, byPlan := alloc(t, c, normal, dtype, g.N, g.H, g.W, g.C), alloc(t, c, normal, dtype, g.N, g.H, g.W, g.C)
		dy, w := alloc(t, c, normal, dtype, g.N, g.P, g.Q, g.K), alloc(t, c, normal, dtype, g.K, g.R, g.S, g.C)
		for i, most := range []int{mostElements, g.N * g.P * g.Q * g.K} { // more columns than that are not made
			c.most = most
			expect.OK(t, c.ConvGradData([]*tensor.Tensor{byColumns, byPlan}[i], dy, w, nil, Params{}))
			how := c.Algorithm(DataGradient, g)
			if by := strings.HasSuffix(how, " by columns"); by != (i == 0) {
				t.Errorf("%v with %d elements: computed as %q", dtype, most, how)
			}
		}
		if e := apartBy(values(t, c, byColumns), values(t, c, byPlan)); !(e <= tolerance) {
			t.Errorf("%v: apart by %.2g, at most %.2g", dtype, e, tolerance)
		}
	}
}

// A forward pass by columns, chosen in an earlier run, equals a plan's up to the rounding of the result. Padding and
// too many columns leave it to a plan.
func TestCUDA_ComputesForwardPassesByColumns(t *testing.T) {
	c := convolving(t)
	for _, g := range []Geometry{
		{N: 3, H: 6, W: 5, C: 64, K: 512, R: 4, S: 3, P: 3, Q: 3, Stride: 1},
		{N: 1, H: 3, W: 9, C: 8, K: 528, R: 1, S: 7, P: 3, Q: 3, Stride: 1},
	} {
		folder, normal := t.TempDir(), normals(8, 9)
		x, b := alloc(t, c, normal, tensor.BFloat16, g.N, g.H, g.W, g.C), alloc(t, c, normal, tensor.Float32, g.K)
		w := alloc(t, c, normal, tensor.BFloat16, g.K, g.R, g.S, g.C)
		y := alloc(t, c, normal, tensor.BFloat16, g.N, g.P, g.Q, g.K)
		forward := func(byColumns bool) []float32 {
			library, err := cudnn.Open(c.device.Stream, cudnn.Options{CacheFolder: folder})
			expect.OK(t, err)
			defer library.Close()
			c.cudnn = library
			clear(c.forms)
			fill(t, c, y, func() float32 { return 3 })
			expect.OK(t, c.Conv(y, x, w, b, Params{ReLU: true}))
			if how := c.Algorithm(Forward, g); strings.HasSuffix(how, " by columns") != byColumns {
				t.Errorf("%v: computed as %q, by columns is %v", g, how, byColumns)
			}
			return values(t, c, y)
		}
		want := forward(false)
		plan := fmt.Sprintf("forward-bias-relu-of-*-by-%d-%d-%d-*-narrow-bias.json", g.K, g.R, g.S)
		keepKernel(t, folder, plan, columnsKernel)
		if e := apartBy(forward(true), want); !(e <= 4e-3) {
			t.Errorf("%v: apart by %.2g", g, e)
		}
	}
	fits := cudnn.Conv{N: 26, H: 18, W: 18, C: 512, K: 4096, R: 7, S: 7, Precision: cudnn.BFloat16}
	padded, many := fits, fits
	padded.Pad, many.N = 1, 104
	for s, want := range map[cudnn.Conv]bool{fits: true, padded: false, many: false} {
		product, ok := c.unfoldedOf(s)
		if ok != want || ok && (product.C != 25088 || product.H != 12 || !product.NarrowBias) {
			t.Errorf("%v: the product %v, %v, want %v", s, product, ok, want)
		}
	}
}
