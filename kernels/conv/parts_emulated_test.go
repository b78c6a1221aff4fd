//go:build cuda && emulate

package conv

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	dense "gorgonia.org/tensor"

	"nmn/cuda/cudnn"
	"nmn/internal/expect"
	"nmn/kernels/tensor"
)

// results are the results of a convolution's operations, as float32.
type results map[string][]float32

// compute runs all operations over equal numbers in a type. Gradients accumulate.
func compute(t *testing.T, c *CUDA, s shape, dtype tensor.DType) results {
	t.Helper()
	numbers, out, tensors := normals(5, uint64(s.N)), results{}, map[string]*tensor.Tensor{}
	make := func(name string, of tensor.DType, dims ...int) *tensor.Tensor {
		tensors[name] = alloc(t, c, numbers, of, dims...)
		return tensors[name]
	}
	p, q := s.out()
	x, w := make("x", dtype, s.N, s.H, s.W, s.C), make("w", dtype, s.K, s.R, s.S, s.C)
	b, y := make("b", tensor.Float32, s.K), make("y", dtype, s.N, p, q, s.K)
	dx, masked := make("dx", dtype, s.N, s.H, s.W, s.C), make("masked dx", dtype, s.N, s.H, s.W, s.C)
	below, inPlace := make("bias below", tensor.Float32, s.C), make("masked in place", dtype, s.N, s.H, s.W, s.C)
	dw, db := make("dw", tensor.Float32, s.K, s.R, s.S, s.C), make("db", tensor.Float32, s.K)
	dy := make("dy", dtype, s.N, p, q, s.K)
	add := Params{Pad: s.Pad, Accumulate: true}
	for _, err := range []error{
		c.Conv(y, x, w, b, Params{Pad: s.Pad, ReLU: true}),
		c.ConvGradData(dx, dy, w, x, add),
		c.ConvGradDataBias(masked, below, dy, w, x, add),
		c.ConvGradData(inPlace, dy, w, inPlace, Params{Pad: s.Pad}),
		c.ConvGradFilter(dw, x, dy, add),
		c.ConvGradBias(db, dy, add),
	} {
		expect.OK(t, err)
	}
	for name, x := range tensors {
		out[name] = values(t, c, x)
	}
	return out
}

func normals(seed, stream uint64) (next func() float32) {
	r := rand.New(rand.NewPCG(seed, stream))
	return func() float32 { return float32(r.NormFloat64()) }
}

// list gives numbers one after the other.
func list(numbers ...float32) (next func() float32) {
	at := -1
	return func() float32 { at++; return numbers[at] }
}

// alloc makes a tensor of numbers.
func alloc(t *testing.T, c *CUDA, next func() float32, dtype tensor.DType, dims ...int) *tensor.Tensor {
	t.Helper()
	x, err := c.device.Alloc(dtype, dims...)
	expect.OK(t, err)
	fill(t, c, x, next)
	return x
}

// fill uploads numbers to a tensor of either type. values reads them.
func fill(t *testing.T, c *CUDA, x *tensor.Tensor, next func() float32) {
	t.Helper()
	wide, half := make([]float32, x.Len()), make([]uint16, x.Len())
	for i := range wide {
		half[i] = uint16(math.Float32bits(next()) >> 16)
		wide[i] = math.Float32frombits(uint32(half[i]) << 16)
	}
	var data any = wide
	if x.DType() == tensor.BFloat16 {
		data = half
	}
	expect.OK(t, c.device.Upload(x, dense.New(dense.WithShape(len(wide)), dense.WithBacking(data))))
}

func values(t *testing.T, c *CUDA, x *tensor.Tensor) []float32 {
	t.Helper()
	wide, half := make([]float32, x.Len()), make([]uint16, x.Len())
	var data any = wide
	if x.DType() == tensor.BFloat16 {
		data = half
	}
	expect.OK(t, c.device.Download(dense.New(dense.WithShape(len(wide)), dense.WithBacking(data)), x))
	for i, b := range half {
		if x.DType() == tensor.BFloat16 {
			wide[i] = math.Float32frombits(uint32(b) << 16)
		}
	}
	return wide
}

// Convolutions of too many elements are computed in parts: frames are equal in every bit, sums over frames up to
// their order.
func TestCUDA_ComputesManyFramesInParts(t *testing.T) {
	c := convolving(t)
	for _, dtype := range []tensor.DType{tensor.Float32, tensor.BFloat16} {
		for _, s := range []shape{{N: 5, H: 6, W: 6, C: 8, K: 16, R: 3, S: 3, Pad: 1}, {N: 19, H: 3, W: 3, C: 16, K: 8,
			R: 1, S: 1}} {
			c.most = mostElements
			whole := compute(t, c, s, dtype)
			p, q := s.out()
			c.most = 2*max(s.H*s.W*s.C, p*q*s.K) + 1
			if s.N > 16 {
				c.most *= 4 // eight frames, so that there is a last part of fewer
			}
			for name, got := range compute(t, c, s, dtype) {
				tolerance := map[string]float64{"dw": 1e-5, "bias below": 1e-5}[name]
				if e := apartBy(got, whole[name]); !(e <= tolerance) {
					t.Errorf("%v %v: %s is apart by %.2g, at most %.2g", dtype, s, name, e, tolerance)
				}
			}
		}
	}
}

// apartBy is the norm of the difference divided by the norm of want.
func apartBy(got, want []float32) float64 {
	var off, norm float64
	for i := range want {
		off += float64(got[i]-want[i]) * float64(got[i]-want[i])
		norm += float64(want[i]) * float64(want[i])
	}
	return math.Sqrt(off / norm)
}

// convolving opens the host emulator with its stand-in for cuDNN.
func convolving(t *testing.T) *CUDA {
	t.Helper()
	c := emulate(t)
	library, err := cudnn.Open(c.device.Stream, cudnn.Options{})
	expect.OK(t, err)
	t.Cleanup(func() {
		if err := library.Close(); err != nil {
			t.Error(err)
		}
	})
	c.cudnn = library
	return c
}

func TestFrames(t *testing.T) {
	shape := cudnn.Conv{N: 106, H: 565, W: 565, C: 64, K: 64, R: 3, S: 3, Pad: 1}
	for _, test := range []struct{ n, most, want int }{
		{105, mostElements, 105}, {106, mostElements, 56}, {1000, mostElements, 104}, {4, 3 * 565 * 565 * 64, 2},
		{1, 565 * 565 * 64, 1}, {17, 9 * 565 * 565 * 64, 8},
	} {
		shape.N = test.n
		if got, err := (&CUDA{most: test.most}).frames(shape); err != nil || got != test.want {
			t.Errorf("%d frames of at most %d elements in parts of %d, %v, want %d", test.n, test.most, got, err, test.want)
		}
	}
	if got, err := (&CUDA{most: 565*565*64 - 1}).frames(shape); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("a frame that is too large became parts of %d: %v", got, err)
	}
}
