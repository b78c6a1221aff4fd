//go:build cuda && emulate

package conv

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"nmn/cuda/cudnn"
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

// A forward pass by columns, chosen in an earlier run, equals a plan's up to the rounding of the result. Padding and
// too many columns leave it to a plan.
func TestCUDA_ComputesForwardPassesByColumns(t *testing.T) {
	c := convolving(t)
	for _, g := range []Geometry{
		{N: 3, H: 6, W: 5, C: 64, K: 512, R: 4, S: 3, P: 3, Q: 3, Stride: 1},
		{N: 1, H: 3, W: 9, C: 8, K: 528, R: 1, S: 7, P: 3, Q: 3, Stride: 1},
	} {
		folder, r := t.TempDir(), rand.New(rand.NewPCG(8, 9))
		var all [4]*tensor.Tensor // x, w, b, y
		for i, dims := range [...][]int{{g.N, g.H, g.W, g.C}, {g.K, g.R, g.S, g.C}, {g.K}, {g.N, g.P, g.Q, g.K}} {
			dtype := tensor.BFloat16
			if i == 2 {
				dtype = tensor.Float32
			}
			var err error
			if all[i], err = c.device.Alloc(dtype, dims...); err != nil {
				t.Fatal(err)
			}
			fill(t, c, all[i], func() float32 { return float32(r.NormFloat64()) })
		}
		forward := func(byColumns bool) []float32 {
			library, err := cudnn.Open(c.device.Stream, cudnn.Options{CacheFolder: folder})
			if err != nil {
				t.Fatal(err)
			}
			defer library.Close()
			c.cudnn = library
			clear(c.forms)
			fill(t, c, all[3], func() float32 { return 3 })
			if err := c.Conv(all[3], all[0], all[1], all[2], Params{ReLU: true}); err != nil {
				t.Fatal(err)
			}
			if how := c.Algorithm(Forward, g); strings.HasSuffix(how, " by columns") != byColumns {
				t.Errorf("%v: computed as %q, by columns is %v", g, how, byColumns)
			}
			return values(t, c, all[3])
		}
		want := forward(false)
		plan := fmt.Sprintf("forward-bias-relu-of-*-by-%d-%d-%d-*-narrow-bias.json", g.K, g.R, g.S)
		keepKernel(t, folder, plan, byColumns)
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
