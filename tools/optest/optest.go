// Package optest makes devices and tensors for the tests of the families of operations. Package conform
// judges whole backends.
package optest

import (
	"errors"
	"math"
	"testing"

	"nmn/internal/rng"
	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// Device is the memory of the host with this number of threads, closed when the test ends.
func Device(t testing.TB, threads int) *tensor.CPU {
	t.Helper()
	dev := tensor.NewCPU(threads, "test")
	t.Cleanup(func() { Must(t, dev.Close()) })
	return dev
}

// Level is the level of instructions that the environment asks for, by default the best one.
func Level(t testing.TB) simd.Level {
	t.Helper()
	level, err := simd.Detect()
	Must(t, err)
	return level
}

// EachHost calls f with every level of this machine and several numbers of threads.
func EachHost(f func(level simd.Level, threads int)) {
	for _, level := range simd.Levels() {
		for _, threads := range []int{1, 2, 5} {
			f(level, threads)
		}
	}
}

// Floats makes a tensor over data. nil data is filled with NaN, so that missing writes of an operation show.
func Floats(t testing.TB, data []float32, shape ...int) *tensor.Tensor {
	t.Helper()
	if data == nil {
		data = make([]float32, elements(t, shape))
		for i := range data {
			data[i] = float32(math.NaN())
		}
	}
	x, err := tensor.OfFloat32s(data, shape...)
	Must(t, err)
	return x
}

// Vector makes a tensor of one axis.
func Vector(t testing.TB, values ...float32) *tensor.Tensor {
	t.Helper()
	return Floats(t, values, len(values))
}

// Ints makes a tensor of integers of one axis.
func Ints(t testing.TB, values ...int32) *tensor.Tensor {
	t.Helper()
	x, err := tensor.OfInt32s(values, len(values))
	Must(t, err)
	return x
}

// Normal makes a tensor of draws of a normal distribution around 0.
func Normal(t testing.TB, stream *rng.Stream, deviation float64, shape ...int) *tensor.Tensor {
	t.Helper()
	data := make([]float32, elements(t, shape))
	for i := range data {
		data[i] = float32(stream.Normal(0, deviation))
	}
	return Floats(t, data, shape...)
}

// Must ends the test at the first call that has an error.
func Must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func elements(t testing.TB, shape []int) int {
	t.Helper()
	n, err := tensor.Elements(shape)
	Must(t, err)
	return n
}
