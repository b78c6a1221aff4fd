//go:build cuda && emulate

package conv

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"nmn/cuda/cudnn"
	"nmn/internal/expect"
	"nmn/kernels/tensor"
	"nmn/tools/ref"
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
	normal := normals(3, 4)
	for _, s := range []cudnn.Conv{{N: 1, H: 1, W: 1, K: 64}, {N: 300, H: 1, W: 2, K: 64}, {N: 2, H: 5, W: 3, K: 128},
		{N: 1, H: 17, W: 33, K: 64}, {N: 1, H: 8, W: 63, K: 64}, {N: 1, H: 7, W: 64, K: 128}, {N: 2, H: 9, W: 65, K: 64}} {
		s.C, s.R, s.S, s.Pad, s.Precision = 8, 3, 3, 1, cudnn.BFloat16
		x, w := alloc(t, c, normal, tensor.BFloat16, s.N, s.H, s.W, 8), alloc(t, c, normal, tensor.BFloat16, s.K, 3, 3, 8)
		y, b := alloc(t, c, normal, tensor.BFloat16, s.N, s.H, s.W, s.K), alloc(t, c, normal, tensor.Float32, s.K)
		numbers := values(t, c, x)
		for _, with := range []struct{ bias, relu, nan bool }{{true, true, false}, {true, false, true}, {false, true, true},
			{}} {
			name := fmt.Sprintf("%v, %+v", s, with)
			in := append([]float32{}, numbers...)
			if with.nan {
				in[len(in)/3] = float32(math.NaN())
			}
			fill(t, c, x, list(in...))
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

// firstGradients are x, dy and dw of a convolution like the first of a net. The numbers are small and whole, so that
// float32 sums them exactly in any order.
func firstGradients(t *testing.T, c *CUDA, s *cudnn.Conv) (x, dy, dw *tensor.Tensor) {
	t.Helper()
	s.C, s.R, s.S, s.Pad, s.Precision, s.Wide = 8, 3, 3, 1, cudnn.BFloat16, true
	r := rand.New(rand.NewPCG(3, uint64(s.N)))
	small := func() float32 { return float32(r.IntN(9) - 4) }
	return alloc(t, c, small, tensor.BFloat16, s.N, s.H, s.W, 8), alloc(t, c, small, tensor.BFloat16, s.N, s.H, s.W, s.K),
		alloc(t, c, small, tensor.Float32, s.K, 3, 3, 8)
}

// The filter gradient of the first convolution equals the reference, also with more tiles than blocks.
func TestCUDA_ComputesTheFirstFilterGradientItself(t *testing.T) {
	c := convolving(t)
	for _, s := range []cudnn.Conv{{N: 1, H: 1, W: 1, K: 64}, {N: 300, H: 1, W: 2, K: 64}, {N: 2, H: 5, W: 3, K: 128},
		{N: 1, H: 9, W: 31, K: 64}, {N: 2, H: 4, W: 32, K: 64}, {N: 1, H: 6, W: 81, K: 128}} {
		x, dy, dw := firstGradients(t, c, &s)
		k := c.firstFilter(s)
		at, err := c.scratch.Reserve(c.device, k.Workspace)
		if err == nil {
			err = k.Run(cudnn.Operands{X: tensor.At(x), Y: tensor.At(dy), W: tensor.At(dw)}, at)
		}
		if err != nil {
			t.Fatalf("%v: %v", s, err)
		}
		shape := ref.Conv{N: s.N, H: s.H, W: s.W, C: s.C, K: s.K, R: s.R, S: s.S, Pad: s.Pad}
		exactly := func(x *tensor.Tensor) []float64 {
			return float64s(values(t, c, x), func(v float64) float64 { return v })
		}
		want := shape.GradFilter(exactly(x), exactly(dy))
		for i, got := range values(t, c, dw) {
			if float64(got) != want[i] {
				t.Fatalf("%v: element %d is %g, want %g", s, i, got, want[i])
			}
		}
	}
}

// A kernel that was chosen in an earlier run computes the filter gradient, and adds it to an earlier one. On the
// emulator it is not the fastest, so the test writes the choice.
func TestCUDA_TakesTheFirstFilterGradientThatWasChosen(t *testing.T) {
	c, folder := convolving(t), t.TempDir()
	s := cudnn.Conv{N: 2, H: 5, W: 7, K: 64}
	x, dy, dw := firstGradients(t, c, &s)
	g := Geometry{N: s.N, H: s.H, W: s.W, C: 8, K: s.K, R: 3, S: 3, P: s.H, Q: s.W, Pad: 1, Stride: 1}
	gradient := func(how string) []float32 {
		library, err := cudnn.Open(c.device.Stream, cudnn.Options{CacheFolder: folder})
		expect.OK(t, err)
		defer library.Close()
		c.cudnn = library
		clear(c.narrow)
		fill(t, c, dw, func() float32 { return 3 })
		expect.OK(t, c.ConvGradFilter(dw, x, dy, Params{Pad: 1, Accumulate: true}))
		if got := c.Algorithm(FilterGradient, g); (got == "first_filter bf16") != (how == "first_filter") {
			t.Errorf("computed as %q, want %s", got, how)
		}
		return values(t, c, dw)
	}
	want := gradient("a plan")
	keepKernel(t, folder, "filter-gradient-*-to-fp32.json", "first_filter")
	for i, got := range gradient("first_filter") {
		if got != want[i] {
			t.Fatalf("element %d is %g, want %g", i, got, want[i])
		}
	}
}

// keepKernel writes a kernel to the file of a kept plan, as the fastest choice.
func keepKernel(t *testing.T, folder, plan, kernel string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*", plan))
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files of the plan %s, %v", len(files), plan, err)
	}
	text, err := os.ReadFile(files[0])
	expect.OK(t, err)
	kept := map[string]any{}
	expect.OK(t, json.Unmarshal(text, &kept))
	kept["kernel"], kept["microseconds"] = kernel, .01
	if text, err = json.Marshal(kept); err != nil {
		t.Fatal(err)
	}
	expect.OK(t, os.WriteFile(files[0], text, 0o600))
}
