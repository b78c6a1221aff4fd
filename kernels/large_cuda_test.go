//go:build cuda && !emulate

package kernels_test

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"nmn/internal/rng"
	"nmn/kernels/conv"
	"nmn/kernels/tensor"
	"nmn/tools/conform"
)

// About five videos of 26 frames of 565 pixels: 106 frames of 64 channels have more than 2^31 elements. All
// frames are equal, so the last result must equal the first, and sums over the frames are 106 times the sum
// of one.
func TestCUDA_MoreElementsThan32BitsIndex(t *testing.T) {
	if !slices.Contains(strings.Split(os.Getenv("NMN_REQUIRE"), ","), "cuda") {
		t.Skip("runs on a real card with 24 GB, with NMN_REQUIRE=cuda")
	}
	const frames, side, channels = 106, 565, 64
	b := openCardIn(t, tensor.BF16)
	r := &rig{t: t, b: b, stream: rng.New(5, 5)}
	alloc := func(dtype tensor.DType, shape ...int) *tensor.Tensor {
		x, err := b.Alloc(dtype, shape...)
		r.ok(err)
		return x
	}
	frame := func(x *tensor.Tensor, n int) *tensor.Tensor {
		const bytes = side * side * channels * 2
		f, err := tensor.OfAddress(x.Address()+uintptr(n)*bytes, tensor.BFloat16, 1, side, side, channels)
		r.ok(err)
		return f
	}
	shape := []int{frames, side, side, channels}
	x, y, dx := alloc(tensor.BFloat16, shape...), alloc(tensor.BFloat16, shape...), alloc(tensor.BFloat16, shape...)
	one := r.draw(1, side, side, channels).half
	w := r.draw(channels, 3, 3, channels).half
	bias := r.draw(channels).wide
	for n := range frames {
		r.ok(b.Copy(frame(x, n), one))
	}
	p := conv.Params{Pad: 1}
	dw, db := alloc(tensor.Float32, channels, 3, 3, channels), alloc(tensor.Float32, channels)
	dw1, db1 := alloc(tensor.Float32, channels, 3, 3, channels), alloc(tensor.Float32, channels)
	y1, dx1 := alloc(tensor.BFloat16, 1, side, side, channels), alloc(tensor.BFloat16, 1, side, side, channels)

	r.ok(b.Conv(y, x, w, bias, conv.Params{Pad: 1, ReLU: true}))
	r.ok(b.Conv(y1, one, w, bias, conv.Params{Pad: 1, ReLU: true}))
	r.ok(b.ConvGradFilter(dw, x, x, p))
	r.ok(b.ConvGradFilter(dw1, one, one, p))
	r.ok(b.ConvGradDataBias(dx, db, x, w, x, p))
	r.ok(b.ConvGradDataBias(dx1, db1, one, w, one, p))
	for _, n := range []int{0, frames / 2, frames - 1} {
		near(t, "forward", conform.Download(t, b, frame(y, n)), conform.Download(t, b, y1), 1)
		near(t, "data gradient", conform.Download(t, b, frame(dx, n)), conform.Download(t, b, dx1), 1)
	}
	near(t, "filter gradient", conform.Download(t, b, dw), conform.Download(t, b, dw1), frames)
	near(t, "bias gradient", conform.Download(t, b, db), conform.Download(t, b, db1), frames)
}

// near compares numbers with a multiple of others, by the norm of the difference: plans round in other
// places.
func near(t *testing.T, what string, got, want []float32, times float64) {
	t.Helper()
	var off, size float64
	for i, w := range want {
		d := float64(got[i]) - times*float64(w)
		off, size = off+d*d, size+times*times*float64(w)*float64(w)
	}
	if !(math.Sqrt(off/size) < 1.0/128) {
		t.Errorf("%s: off by %g of the whole", what, math.Sqrt(off/size))
	}
}
