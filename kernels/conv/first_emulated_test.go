//go:build cuda && emulate

package conv

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"nmn/cuda/cudnn"
	"nmn/kernels/tensor"
)

// firstBy computes the result of first.cu by plain loops, with equal sums in float32.
func firstBy(s cudnn.Conv, x, w, b []float32, relu bool) []float32 {
	var y []float32
	for at := range s.N * s.H * s.W {
		n, h, column := at/(s.W*s.H), at/s.W%s.H, at%s.W
		for k := range s.K {
			sum := float32(0)
			if b != nil {
				sum = b[k]
			}
			for tap := range 9 {
				row, column := h+tap/3-1, column+tap%3-1
				if row < 0 || row >= s.H || column < 0 || column >= s.W {
					continue
				}
				for i := range 8 {
					sum += x[((n*s.H+row)*s.W+column)*8+i] * w[(k*9+tap)*8+i]
				}
			}
			if relu && sum <= 0 {
				sum = 0
			}
			bits := math.Float32bits(sum)
			y = append(y, math.Float32frombits((bits+0x7fff+bits>>16&1)&0xffff0000))
		}
	}
	return y
}

// The first convolution is computed by a kernel of this package, bit for bit as by loops. NaN reaches the
// pixels around it.
func TestCUDA_ComputesTheFirstConvolutionItself(t *testing.T) {
	c := convolving(t)
	r := rand.New(rand.NewPCG(3, 4))
	for _, s := range []cudnn.Conv{{N: 1, H: 1, W: 1, K: 64}, {N: 300, H: 1, W: 2, K: 64}, {N: 2, H: 5, W: 3, K: 128},
		{N: 1, H: 17, W: 33, K: 64}, {N: 1, H: 8, W: 63, K: 64}, {N: 1, H: 7, W: 64, K: 128}, {N: 2, H: 9, W: 65, K: 64}} {
		s.C, s.R, s.S, s.Pad, s.Precision = 8, 3, 3, 1, cudnn.BFloat16
		alloc := func(dtype tensor.DType, dims ...int) *tensor.Tensor {
			x, err := c.device.Alloc(dtype, dims...)
			if err != nil {
				t.Fatal(err)
			}
			fill(t, c, x, func() float32 { return float32(r.NormFloat64()) })
			return x
		}
		x, w := alloc(tensor.BFloat16, s.N, s.H, s.W, 8), alloc(tensor.BFloat16, s.K, 3, 3, 8)
		y, b := alloc(tensor.BFloat16, s.N, s.H, s.W, s.K), alloc(tensor.Float32, s.K)
		numbers := values(t, c, x)
		for _, with := range []struct{ bias, relu, nan bool }{{true, true, false}, {true, false, true}, {false, true, true},
			{}} {
			name := fmt.Sprintf("%v, %+v", s, with)
			in := append([]float32{}, numbers...)
			if with.nan {
				in[len(in)/3] = float32(math.NaN())
			}
			next := 0
			fill(t, c, x, func() float32 { next++; return in[next-1] })
			var err error
			var bias []float32
			if with.bias {
				bias = values(t, c, b)
				err = c.Conv(y, x, w, b, Params{Pad: 1, ReLU: with.relu})
				q := question{pass: forwardPass(true, with.relu), conv: s}
				if f := c.forms[q]; f != own && s.H*s.W > 500 { // the stand-in for cuDNN takes thousands of times as long
					t.Errorf("%s: form %d was chosen, want %d", name, f, own)
				}
				c.forms[q] = own
				g := Geometry{N: s.N, H: s.H, W: s.W, C: 8, K: s.K, R: 3, S: 3, P: s.H, Q: s.W, Pad: 1, Stride: 1}
				if how := c.Algorithm(Forward, g); how != "first_conv bf16" {
					t.Errorf("%s: computed as %q", name, how)
				}
				if err == nil {
					err = c.Conv(y, x, w, b, Params{Pad: 1, ReLU: with.relu})
				}
			} else {
				err = c.firstConv(s, cudnn.Operands{X: tensor.At(x), W: tensor.At(w), Y: tensor.At(y)}, with.relu)
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			want := firstBy(s, in, values(t, c, w), bias, with.relu)
			for i, got := range values(t, c, y) {
				if got != want[i] && (got == got || want[i] == want[i]) {
					t.Fatalf("%s: element %d is %g, want %g", name, i, got, want[i])
				}
			}
		}
	}
}
