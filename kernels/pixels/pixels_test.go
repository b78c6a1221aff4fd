package pixels

import (
	"errors"
	"math"
	"testing"

	"nmn/internal/rng"
	"nmn/kernels/tensor"
	"nmn/tools/optest"
)

func newTestCPU(t testing.TB, threads int) *CPU {
	return NewCPU(optest.Device(t, threads), optest.Level(t))
}

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func drawn(t testing.TB, shape ...int) *tensor.Tensor {
	size, _ := tensor.Elements(shape)
	data, stream := make([]uint8, size), rng.New(1)
	for i := range data {
		data[i] = uint8(stream.Intn(256))
	}
	return must[*tensor.Tensor](t)(tensor.OfUint8s(data, shape...))
}

var imageNet = Params{Mean: [3]float32{123.68, 116.779, 103.939}, Scale: [3]float32{1, 0.5, 1 / 57.375}}

// Each call uses its own constants.
func TestNormalize_OtherConstantsGiveOtherValues(t *testing.T) {
	c, pixels, x := newTestCPU(t, 1), drawn(t, 1, 1, 1, 3), optest.Floats(t, nil, 1, 1, 1, 3)
	for _, p := range []Params{{}, {Scale: [3]float32{1, 1, 1}}, imageNet, {Scale: [3]float32{2, 2, 2}}} {
		optest.Must(t, c.Normalize(x, pixels, nil, nil, p))
		for i, got := range x.Float32s() {
			if want := (float32(pixels.Uint8s()[i]) - p.Mean[i]) * p.Scale[i]; got != want {
				t.Errorf("%v: channel %d is %g, want %g", p, i, got, want)
			}
		}
	}
}

func TestNormalize_RefusesWhatDoesNotFit(t *testing.T) {
	c, pixels, x := newTestCPU(t, 1), drawn(t, 2, 5, 6, 3), optest.Floats(t, nil, 2, 5, 6, 3)
	sizes := func(v ...int32) *tensor.Tensor { return must[*tensor.Tensor](t)(tensor.OfInt32s(v, len(v)/2, 2)) }
	for name, err := range map[string]error{
		"no output":         c.Normalize(nil, pixels, nil, nil, imageNet),
		"no pixels":         c.Normalize(x, nil, nil, nil, imageNet),
		"four byte pixels":  c.Normalize(x, drawn(t, 2, 5, 6, 4), nil, nil, imageNet),
		"float pixels":      c.Normalize(x, x, nil, nil, imageNet),
		"another width":     c.Normalize(x, drawn(t, 2, 5, 7, 3), nil, nil, imageNet),
		"too high":          c.Normalize(x, pixels, sizes(5, 6, 6, 6), nil, imageNet),
		"too wide":          c.Normalize(x, pixels, sizes(5, 7, 5, 6), nil, imageNet),
		"negative":          c.Normalize(x, pixels, sizes(5, 6, -1, 6), nil, imageNet),
		"flips of integers": c.Normalize(x, pixels, nil, sizes(0, 0), imageNet),
	} {
		if !errors.Is(err, tensor.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		p := imageNet
		p.Scale[1] = float32(v)
		if err := c.Normalize(x, pixels, nil, nil, p); !errors.Is(err, ErrParams) {
			t.Errorf("scale %g: %v", v, err)
		}
	}
}
