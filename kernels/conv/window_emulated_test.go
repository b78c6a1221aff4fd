//go:build cuda && emulate

package conv

import (
	"testing"

	"nmn/cuda/cudnn"
	"nmn/internal/expect"
	"nmn/kernels/tensor"
)

// A window as large as the input makes a convolution one of 1×1, for plans that are made ahead, for calls and
// for reports. Padding or a larger input does not.
func TestCUDA_WindowAsLargeAsTheInput(t *testing.T) {
	c := convolving(t)
	for _, test := range []struct {
		g    Geometry
		want cudnn.Conv
	}{
		{Geometry{N: 3, H: 4, W: 2, C: 8, K: 16, R: 4, S: 2, P: 1, Q: 1, Stride: 3},
			cudnn.Conv{N: 3, H: 1, W: 1, C: 64, K: 16, R: 1, S: 1}},
		{Geometry{N: 3, H: 4, W: 3, C: 8, K: 16, R: 4, S: 2, P: 1, Q: 2, Stride: 1},
			cudnn.Conv{N: 3, H: 4, W: 3, C: 8, K: 16, R: 4, S: 2}},
		{Geometry{N: 3, H: 2, W: 2, C: 8, K: 16, R: 2, S: 2, P: 3, Q: 3, Pad: 1, Stride: 1},
			cudnn.Conv{N: 3, H: 2, W: 2, C: 8, K: 16, R: 2, S: 2, Pad: 1}},
	} {
		g, normal, p := test.g, normals(8, 9), Params{Pad: test.g.Pad, Stride: test.g.Stride}
		x := alloc(t, c, normal, tensor.Float32, g.N, g.H, g.W, g.C)
		y := alloc(t, c, normal, tensor.Float32, g.N, g.P, g.Q, g.K)
		w := alloc(t, c, normal, tensor.Float32, g.K, g.R, g.S, g.C)
		for pass, run := range map[Pass]func() error{
			Forward:        func() error { return c.Conv(y, x, w, nil, p) },
			DataGradient:   func() error { return c.ConvGradData(x, y, w, nil, p) },
			FilterGradient: func() error { return c.ConvGradFilter(w, x, y, p) },
		} {
			for _, s := range c.shapesOf(Call{Pass: pass, X: x, W: w, Y: y, Params: p}) {
				if s.Conv != test.want {
					t.Errorf("%v: the plan of %v is for %v, want %v", g, pass, s.Conv, test.want)
				}
			}
			expect.OK(t, run())
			of := map[Pass]cudnn.Pass{Forward: cudnn.Forward, DataGradient: cudnn.DataGradient,
				FilterGradient: cudnn.FilterGradient}[pass]
			if _, known := c.cudnn.Chosen(of, test.want); !known {
				t.Errorf("%v: %v did not run %v", g, pass, test.want)
			}
			if how := c.Algorithm(pass, g); how == "" {
				t.Errorf("%v: nothing computed %v", g, pass)
			}
		}
	}
}
