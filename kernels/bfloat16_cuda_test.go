//go:build cuda

package kernels_test

import (
	"fmt"
	"math"
	"testing"

	dense "gorgonia.org/tensor"

	"nmn/internal/rng"
	"nmn/kernels"
	"nmn/kernels/conv"
	"nmn/kernels/pixels"
	"nmn/kernels/pool"
	"nmn/kernels/tensor"
	"nmn/kernels/update"
	"nmn/tools/conform"
)

// rig draws operands that bfloat16 holds exactly and keeps them in both types.
type rig struct {
	t      *testing.T
	b      kernels.Backend
	stream rng.Stream
}

// pair is one operand in float32 and in bfloat16.
type pair struct{ wide, half *tensor.Tensor }

// round is a number as bfloat16 holds it: nearest, ties to even.
func round(x float32) uint16 {
	bits := math.Float32bits(x)
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}

func (r *rig) draw(shape ...int) pair {
	r.t.Helper()
	p := r.space(shape...)
	wide, half := make([]float32, p.wide.Len()), make([]uint16, p.wide.Len())
	for i := range wide {
		half[i] = round(float32(r.stream.Normal(0, 1)))
		wide[i] = math.Float32frombits(uint32(half[i]) << 16)
	}
	r.ok(r.b.Upload(p.wide, dense.New(dense.WithShape(len(wide)), dense.WithBacking(wide))))
	r.ok(r.b.Upload(p.half, dense.New(dense.WithShape(len(half)), dense.WithBacking(half))))
	return p
}

func (r *rig) space(shape ...int) pair {
	r.t.Helper()
	wide, err := r.b.Alloc(tensor.Float32, shape...)
	r.ok(err)
	half, err := r.b.Alloc(tensor.BFloat16, shape...)
	r.ok(err)
	return pair{wide, half}
}

func (r *rig) ok(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// equal demands that the bfloat16 result is the float32 one, rounded.
func (r *rig) equal(what string, p pair) {
	r.t.Helper()
	wide, half := make([]float32, p.wide.Len()), make([]uint16, p.wide.Len())
	r.ok(r.b.Download(dense.New(dense.WithShape(len(wide)), dense.WithBacking(wide)), p.wide))
	r.ok(r.b.Download(dense.New(dense.WithShape(len(half)), dense.WithBacking(half)), p.half))
	for i, x := range wide {
		if half[i] != round(x) {
			r.t.Fatalf("%s: element %d is %g in float32, %g in bfloat16", what, i, x, math.Float32frombits(uint32(half[i])<<16))
		}
	}
}

// both runs an operation in both types and compares one result.
func (r *rig) both(what string, result pair, run func(pick func(p pair) *tensor.Tensor) error) {
	r.t.Helper()
	r.ok(run(func(p pair) *tensor.Tensor { return p.wide }))
	r.ok(run(func(p pair) *tensor.Tensor { return p.half }))
	r.equal(what, result)
}

// Element-wise operations give in bfloat16 their float32 results, rounded. Channels are once a multiple of
// what 16 bytes hold, and once not.
func TestCUDA_BFloat16(t *testing.T) {
	for _, channels := range []int{8, 5} {
		t.Run(fmt.Sprintf("channels=%d", channels), func(t *testing.T) {
			r := &rig{t, openCard(t), rng.New(7, channels)}
			r.layers(channels)
			r.pixels(channels)
			r.biasGradient(channels)
			r.poolAndBias(channels)
			r.convolutions(channels)
			r.weights(37 * channels)
		})
	}
}

func (r *rig) layers(channels int) {
	x, y := r.draw(2, 5, 7, channels), r.space(2, 3, 4, channels)
	r.both("max pooling", y, func(of func(p pair) *tensor.Tensor) error { return r.b.MaxPool(of(y), of(x)) })
	dx, dy := r.space(2, 5, 7, channels), r.draw(2, 3, 4, channels)
	r.both("its gradient", dx, func(of func(p pair) *tensor.Tensor) error {
		return r.b.MaxPoolGrad(of(dx), of(dy), of(x), of(y), true)
	})
	dz := r.space(2, 5, 7, channels)
	keys, err := r.b.Alloc(tensor.Int32, 2)
	r.ok(err)
	seed, err := r.b.Alloc(tensor.Int32, 2)
	r.ok(err)
	r.both("dropout", dz, func(of func(p pair) *tensor.Tensor) error {
		return r.b.Dropout(of(dz), of(x), keys, seed, 0.5)
	})
}

func (r *rig) pixels(channels int) {
	picture, err := r.b.Alloc(tensor.Uint8, 2, 5, 7, 3)
	r.ok(err)
	data := make([]uint8, picture.Len())
	for i := range data {
		data[i] = uint8(r.stream.Uint32())
	}
	r.ok(r.b.Upload(picture, dense.New(dense.WithShape(len(data)), dense.WithBacking(data))))
	x := r.space(2, 5, 7, channels)
	p := pixels.Params{Mean: [3]float32{120, 110, 100}, Scale: [3]float32{.02, .02, .02}}
	r.both("normalize", x, func(of func(p pair) *tensor.Tensor) error {
		return r.b.Normalize(of(x), picture,
			nil, nil, p)
	})
}

// The gradient of the bias is computed together with the pool's: the sum and the bits of dx stay equal.
func (r *rig) poolAndBias(channels int) {
	x, y, dx, dy, db := r.draw(2, 5, 7, channels), r.space(2, 3, 4, channels), r.space(2, 5, 7, channels),
		r.draw(2, 3, 4, channels), r.space(channels)
	r.ok(r.b.MaxPool(y.wide, x.wide))
	r.ok(r.b.MaxPool(y.half, x.half))
	r.sums("bias gradient of the pool", db, func(of func(p pair) *tensor.Tensor) error {
		return r.b.MaxPoolGradBias(of(dx), db.wide, of(dy), of(x), of(y), pool.MaxGradParams{ReLU: true})
	})
	r.equal("gradient of the pool", dx)
}

// Sums of bfloat16 are taken in float32 and float64.
func (r *rig) biasGradient(channels int) {
	dy, db := r.draw(3, 9, 11, channels), r.space(channels)
	r.sums("bias gradient", db, func(of func(p pair) *tensor.Tensor) error {
		return r.b.ConvGradBias(db.wide, of(dy), conv.Params{})
	})
}

// sums compares the sums of an operation in db.wide from float32 and from bfloat16.
func (r *rig) sums(what string, db pair, run func(of func(p pair) *tensor.Tensor) error) {
	channels := db.wide.Len()
	r.ok(run(func(p pair) *tensor.Tensor { return p.wide }))
	want := make([]float32, channels)
	r.ok(r.b.Download(dense.New(dense.WithShape(channels), dense.WithBacking(want)), db.wide))
	r.ok(run(func(p pair) *tensor.Tensor { return p.half }))
	got := make([]float32, channels)
	r.ok(r.b.Download(dense.New(dense.WithShape(channels), dense.WithBacking(got)), db.wide))
	for k := range want {
		if math.Abs(float64(got[k]-want[k])) > 1e-5*math.Abs(float64(want[k]))+1e-5 {
			r.t.Errorf("%s %d is %g from bfloat16, %g from float32", what, k, got[k], want[k])
		}
	}
}

// From operands in bfloat16, outputs, filter gradients and gradients of outputs may be float32. The results
// are then float32 results, unless cuDNN has no plan for the channels and rounds once.
func (r *rig) convolutions(channels int) {
	x, w, y, dw := r.draw(2, 5, 7, channels), r.draw(16, 3, 3, channels), r.draw(2, 5, 7, 16), r.space(16, 3, 3, channels)
	bias, out := r.draw(16), r.space(2, 5, 7, 16)
	most := 1e-6
	if channels%8 != 0 {
		most = 0x1p-8
	}
	p := conv.Params{Pad: 1}
	r.ok(r.b.Conv(out.wide, x.wide, w.wide, bias.wide, p))
	want := conform.Download(r.t, r.b, out.wide)
	r.ok(r.b.Conv(out.wide, x.half, w.half, bias.wide, p))
	r.near("output", out.wide, want, most)

	r.ok(r.b.ConvGradFilter(dw.wide, x.wide, y.wide, p))
	want = conform.Download(r.t, r.b, dw.wide)
	for _, dy := range []*tensor.Tensor{y.half, y.wide} {
		r.ok(r.b.ConvGradFilter(dw.wide, x.half, dy, p))
		r.near("filter gradient", dw.wide, want, most)
	}
	dx := r.space(2, 5, 7, channels)
	r.ok(r.b.ConvGradData(dx.wide, y.wide, w.wide, nil, p))
	want = conform.Download(r.t, r.b, dx.wide)
	for _, dy := range []*tensor.Tensor{y.half, y.wide} {
		r.ok(r.b.ConvGradData(dx.half, dy, w.half, nil, p))
		r.near("data gradient", dx.half, want, 0x1p-8)
	}
}

// near limits the norm of the error. If a larger error than float32's is allowed, a smaller one shows that
// the result was not rounded as intended.
func (r *rig) near(what string, result *tensor.Tensor, want []float32, most float64) {
	r.t.Helper()
	off, norm := 0.0, 0.0
	for i, got := range conform.Download(r.t, r.b, result) {
		d := float64(got) - float64(want[i])
		off, norm = off+d*d, norm+float64(want[i])*float64(want[i])
	}
	const single = 1e-6
	if off = math.Sqrt(off / norm); !(off <= most) || most > single && off <= single {
		r.t.Errorf("%s %s: off by %.2g, at most %.2g", what, result, off, most)
	}
}

// An update leaves a copy of the weights, rounded, and so does their exchange with averages.
func (r *rig) weights(length int) {
	w, g, m, v := r.draw(length), r.draw(length), r.space(length), r.space(length)
	entries := []update.Entry{{W: w.wide, G: g.wide, M: m.wide, V: v.wide, Copy: w.half, LR: 0.1, Decay: 0.01}}
	r.ok(r.b.SGD(entries, 0.9))
	r.equal("weights of sgd", w)
	r.ok(r.b.Adam(entries, update.AdamParams{Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, Step: 1}))
	r.equal("weights of adam", w)
	r.ok(r.b.AdamW(entries, update.AdamParams{Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, Step: 2}))
	r.equal("weights of adamw", w)
	entries[0].Average = m.wide
	r.ok(r.b.Average(entries, 0.25))
	r.equal("weights and their averages", w)
	r.ok(r.b.Exchange(entries))
	r.equal("averages in the place of weights", w)
}
