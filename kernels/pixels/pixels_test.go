package pixels

import (
	"errors"
	"fmt"
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

func TestNormalize_ValidPartFlipAndCanvas(t *testing.T) {
	const frames, h, w = 4, 5, 13
	sizes := []int32{5, 13, 3, 11, 0, 0, 5, 1}
	for _, channels := range []int{3, 4, 8} {
		for _, flip := range []bool{false, true} {
			for _, sized := range []bool{false, true} {
				t.Run(fmt.Sprintf("channels=%d/flip=%t/sizes=%t", channels, flip, sized), func(t *testing.T) {
					pixels, x := drawn(t, frames, h, w, 3), optest.Floats(t, nil, frames, h, w, channels)
					var size, flips *tensor.Tensor
					flipped := []uint8{1, 0, 1, 1}
					if sized {
						size = must[*tensor.Tensor](t)(tensor.OfInt32s(sizes, frames, 2))
					}
					if flip {
						flips = must[*tensor.Tensor](t)(tensor.OfUint8s(flipped, frames))
					}
					optest.Must(t, newTestCPU(t, 2).Normalize(x, pixels, size, flips, imageNet))
					for i, got := range x.Float32s() {
						channel, column, row, frame := i%channels, i/channels%w, i/(channels*w)%h, i/(channels*w*h)
						height, width := h, w
						if sized {
							height, width = int(sizes[2*frame]), int(sizes[2*frame+1])
						}
						want := float32(0)
						if channel < 3 && row < height && column < width {
							source := column
							if flip && flipped[frame] != 0 {
								source = width - 1 - column
							}
							v := pixels.Uint8s()[((frame*h+row)*w+source)*3+channel]
							want = (float32(v) - imageNet.Mean[channel]) * imageNet.Scale[channel]
						}
						if got != want {
							t.Fatalf("frame %d, row %d, column %d, channel %d is %g, want %g", frame, row, column, channel, got, want)
						}
					}
				})
			}
		}
	}
}

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

func TestNormalize_AllocatesNothing(t *testing.T) {
	c, pixels, x := newTestCPU(t, 2), drawn(t, 2, 5, 5, 3), optest.Floats(t, nil, 2, 5, 5, 4)
	sizes := must[*tensor.Tensor](t)(tensor.OfInt32s([]int32{5, 5, 3, 2}, 2, 2))
	flips := must[*tensor.Tensor](t)(tensor.OfUint8s([]uint8{0, 1}, 2))
	allocations := testing.AllocsPerRun(20, func() {
		if err := c.Normalize(x, pixels, sizes, flips, imageNet); err != nil {
			t.Fatal(err)
		}
	})
	if allocations != 0 {
		t.Errorf("%g allocations", allocations)
	}
}

func TestNormalize_RefusesWhatDoesNotFit(t *testing.T) {
	c, pixels, x := newTestCPU(t, 1), drawn(t, 2, 5, 6, 3), optest.Floats(t, nil, 2, 5, 6, 3)
	sizes := func(v ...int32) *tensor.Tensor { return must[*tensor.Tensor](t)(tensor.OfInt32s(v, len(v)/2, 2)) }
	for name, err := range map[string]error{
		"no output":         c.Normalize(nil, pixels, nil, nil, imageNet),
		"no pixels":         c.Normalize(x, nil, nil, nil, imageNet),
		"two channels":      c.Normalize(optest.Floats(t, nil, 2, 5, 6, 2), pixels, nil, nil, imageNet),
		"four byte pixels":  c.Normalize(x, drawn(t, 2, 5, 6, 4), nil, nil, imageNet),
		"float pixels":      c.Normalize(x, x, nil, nil, imageNet),
		"another width":     c.Normalize(x, drawn(t, 2, 5, 7, 3), nil, nil, imageNet),
		"sizes of one":      c.Normalize(x, pixels, sizes(5, 6), nil, imageNet),
		"too high":          c.Normalize(x, pixels, sizes(5, 6, 6, 6), nil, imageNet),
		"too wide":          c.Normalize(x, pixels, sizes(5, 7, 5, 6), nil, imageNet),
		"negative":          c.Normalize(x, pixels, sizes(5, 6, -1, 6), nil, imageNet),
		"flips of one":      c.Normalize(x, pixels, nil, drawn(t, 1), imageNet),
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

// B/s counts bytes read and floats written.
func BenchmarkNormalize(b *testing.B) {
	const n, side = 8, 224
	for _, channels := range []int{3, 4} {
		b.Run(fmt.Sprintf("channels=%d", channels), func(b *testing.B) {
			c, pixels, x := newTestCPU(b, 0), drawn(b, n, side, side, 3), optest.Floats(b, nil, n, side, side, channels)
			b.SetBytes(int64(pixels.Bytes() + x.Bytes()))
			b.ReportAllocs()
			for b.Loop() {
				if err := c.Normalize(x, pixels, nil, nil, imageNet); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
