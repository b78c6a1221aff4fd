//go:build cuda && emulate

package conv

import (
	"errors"
	"slices"
	"testing"

	"nmn/cuda"
	"nmn/cuda/cudnn"
	"nmn/internal/expect"
	"nmn/kernels/tensor"
	"nmn/tools/emulator"
)

// emulate opens the host emulator with the kernels of this family.
func emulate(t *testing.T) *CUDA {
	t.Helper()
	library, err := emulator.Build(t.TempDir(), "bias.cu", "columns.cu", "first.cu", "shortcut.cu")
	if errors.Is(err, emulator.ErrCompiler) {
		t.Skipf("kernels are not emulated: %v", err)
	}
	expect.OK(t, err)
	t.Setenv(cuda.DriverVariable, library)
	t.Setenv(cudnn.LibraryVariable, library)
	device, err := tensor.NewCUDA(0, cuda.Options{SyncLaunches: true}, tensor.FP32)
	expect.OK(t, err)
	t.Cleanup(func() {
		if err := device.Close(); err != nil {
			t.Error(err)
		}
	})
	module, err := device.Device.LoadModule("conv", "\x50\xed\x55\xba") // the emulator looks at no more of a fatbin
	expect.OK(t, err)
	c, err := NewCUDA(device, module, nil)
	expect.OK(t, err)
	return c
}

// half makes a bfloat16 tensor of numbers that it holds exactly.
func half(t *testing.T, c *CUDA, numbers ...float32) *tensor.Tensor {
	t.Helper()
	return alloc(t, c, list(numbers...), tensor.BFloat16, 1, 1, len(numbers)/3, 3)
}

func wantValues(t *testing.T, what string, c *CUDA, x *tensor.Tensor, want ...float32) {
	t.Helper()
	if got := values(t, c, x); !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// The steps around a convolution in bfloat16: its bias in float32, masks, sums of gradients, and a filter
// gradient in float32. Three groups of three channels do not fill 16 bytes.
func TestCUDA_EndsConvolutionsInBFloat16(t *testing.T) {
	c := emulate(t)
	y := half(t, c, -2, 1, 0.5, 3, -4, 8, 0, 0, 0)
	expect.OK(t, c.addBias(y, alloc(t, c, list(1, 2, -1), tensor.Float32, 3), true))
	wantValues(t, "bias and relu", c, y, 0, 3, 0, 4, 0, 7, 1, 2, 0)

	dx, added := half(t, c, 1, 2, 3, 4, 5, 6, 7, 8, 9), half(t, c, 1, 1, 1, 1, 1, 1, -7, 2, 0.5)
	expect.OK(t, c.endGradient(dx, tensor.At(added), y, true))
	wantValues(t, "masked sum", c, dx, 0, 3, 0, 5, 0, 7, 0, 10, 0)

	dw := alloc(t, c, normals(1, 2), tensor.Float32, 9)
	for _, accumulate := range []bool{false, true} {
		expect.OK(t, c.widen(dw, tensor.At(added), accumulate))
	}
	wantValues(t, "float32 gradient", c, dw, 2, 2, 2, 2, 2, 2, -14, 4, 1)
}

// The plan that takes a bias in bfloat16 reads the caller's rounded one. The other forms add the bias itself.
func TestCUDA_AddsARoundedBias(t *testing.T) {
	c := convolving(t)
	of := func(value float32, dtype tensor.DType, dims ...int) *tensor.Tensor {
		return alloc(t, c, func() float32 { return value }, dtype, dims...)
	}
	const k = 16
	x, w, y := of(0, tensor.BFloat16, 1, 3, 2, 8), of(1, tensor.BFloat16, k, 1, 1, 8), of(0, tensor.BFloat16, 1, 3, 2, k)
	b, own := of(1, tensor.Float32, k), of(3, tensor.BFloat16, k)
	q := question{pass: cudnn.ForwardBias, conv: cudnn.Conv{N: 1, H: 3, W: 2, C: 8, K: k, R: 1, S: 1,
		Precision: cudnn.BFloat16}}
	for _, test := range []struct {
		form  form
		given *tensor.Tensor
		want  float32
	}{{apart, own, 1}, {rounded, own, 3}, {rounded, nil, 1}} {
		c.forms[q] = test.form
		expect.OK(t, c.Conv(y, x, w, b, Params{RoundedBias: test.given}))
		for i, got := range values(t, c, y) {
			if got != test.want {
				t.Fatalf("form %d, with a rounded bias %t: element %d is %v, want %v", test.form, test.given != nil, i, got,
					test.want)
			}
		}
	}
	for name, err := range map[string]error{
		"length":      c.Conv(y, x, w, b, Params{RoundedBias: of(0, tensor.BFloat16, k-1)}),
		"type":        c.Conv(y, x, w, b, Params{RoundedBias: b}),
		"without one": c.Conv(y, x, w, nil, Params{RoundedBias: own}),
	} {
		if !errors.Is(err, tensor.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
