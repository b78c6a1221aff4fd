package profile

import (
	"fmt"

	dense "gorgonia.org/tensor"

	"nmn/kernels/conv"
	"nmn/kernels/noise"
	"nmn/kernels/pixels"
	"nmn/kernels/pool"
	"nmn/kernels/tensor"
	"nmn/kernels/update"
)

// Names in place of a layer: for all parameters of the net, and for copies between host and device.
const (
	whole = "all"
	host  = "host"
)

func (r *Recorder) Upload(dst *tensor.Tensor, src *dense.Dense) error {
	o := Op{Layer: host, Name: "upload", Shape: shapeOf(dst), Bytes: bytesOf(dst)}
	return r.do(o, func() error { return r.backend.Upload(dst, src) })
}

// Download implements tensor.Device. Its time includes waiting for work enqueued before.
func (r *Recorder) Download(dst *dense.Dense, src *tensor.Tensor) error {
	o := Op{Layer: host, Name: "download", Shape: shapeOf(src), Bytes: bytesOf(src)}
	return r.do(o, func() error { return r.backend.Download(dst, src) })
}

func (r *Recorder) Copy(dst, src *tensor.Tensor) error {
	return r.do(r.op(src, "copy", src, bytesOf(dst, src)), func() error { return r.backend.Copy(dst, src) })
}

// op describes an operation of a tensor's layer on an operand that decides its size.
func (r *Recorder) op(layer *tensor.Tensor, name string, of *tensor.Tensor, bytes int) Op {
	return Op{Layer: r.layer(layer), Name: name, Shape: shapeOf(of), Bytes: bytes}
}

// The operations of kernels.Backend, of all its families. They are written out instead of embedded, so that a new
// operation cannot be left out of a step unnoticed.

func (r *Recorder) Conv(y, x, w, b *tensor.Tensor, p conv.Params) error {
	layer := r.layer(w)
	r.names[y] = layer
	return r.do(r.convolution(layer, conv.Forward, x, w, y, p, b), func() error { return r.backend.Conv(y, x, w, b, p) })
}

func (r *Recorder) ConvAdd(y, x, w, b, shortcut *tensor.Tensor, p conv.Params) error {
	layer := r.layer(w)
	r.names[y] = layer
	o := r.convolution(layer, conv.Forward, x, w, y, p, b, shortcut)
	return r.do(o, func() error { return r.backend.ConvAdd(y, x, w, b, shortcut, p) })
}

func (r *Recorder) ConvGradData(dx, dy, w, mask *tensor.Tensor, p conv.Params) error {
	o := r.convolution(r.layer(w), conv.DataGradient, dx, w, dy, p, mask, again(dx, p.Accumulate))
	return r.do(o, func() error { return r.backend.ConvGradData(dx, dy, w, mask, p) })
}

// ConvGradDataBias records the pass of the layer whose filter it reads.
func (r *Recorder) ConvGradDataBias(dx, db, dy, w, mask *tensor.Tensor, p conv.Params) error {
	o := r.convolution(r.layer(w), conv.DataGradient, dx, w, dy, p, mask, db, again(db, p.Accumulate))
	o.Name = "data and bias gradient"
	return r.do(o, func() error { return r.backend.ConvGradDataBias(dx, db, dy, w, mask, p) })
}

func (r *Recorder) ConvGradFilter(dw, x, dy *tensor.Tensor, p conv.Params) error {
	o := r.convolution(r.layer(dw), conv.FilterGradient, x, dw, dy, p, again(dw, p.Accumulate))
	return r.do(o, func() error { return r.backend.ConvGradFilter(dw, x, dy, p) })
}

func (r *Recorder) ConvGradBias(db, dy *tensor.Tensor, p conv.Params) error {
	o := r.op(db, "bias gradient", dy, bytesOf(db, dy, again(db, p.Accumulate)))
	return r.do(o, func() error { return r.backend.ConvGradBias(db, dy, p) })
}

// again is a tensor that is read before it is written.
func again(t *tensor.Tensor, read bool) *tensor.Tensor {
	if read {
		return t
	}
	return nil
}

// Dropout notes its seed, which identifies the gradient.
func (r *Recorder) Dropout(y, x, keys, seed *tensor.Tensor, rate float32) error {
	r.names[seed] = r.layer(x)
	o := r.op(x, "dropout", x, bytesOf(y, x, keys, seed))
	return r.do(o, func() error { return r.backend.Dropout(y, x, keys, seed, rate) })
}

func (r *Recorder) DropoutGrad(dx, dy, keys, seed *tensor.Tensor, rate float32) error {
	o := r.op(seed, "dropout gradient", dx, bytesOf(dx, dy, keys, seed))
	return r.do(o, func() error { return r.backend.DropoutGrad(dx, dy, keys, seed, rate) })
}

// countPool names the layer of a pool's output.
func (r *Recorder) countPool(y *tensor.Tensor) {
	r.pools++
	r.names[y] = fmt.Sprintf("pool%d", r.pools)
}

func (r *Recorder) MaxPool(y, x *tensor.Tensor) error {
	r.countPool(y)
	return r.do(r.op(y, "max pool", x, bytesOf(y, x)), func() error { return r.backend.MaxPool(y, x) })
}

func (r *Recorder) MaxPoolGrad(dx, dy, x, y *tensor.Tensor, relu bool) error {
	o := r.op(y, "max pool gradient", x, bytesOf(dx, dy, x, y))
	return r.do(o, func() error { return r.backend.MaxPoolGrad(dx, dy, x, y, relu) })
}

func (r *Recorder) MaxPoolGradBias(dx, db, dy, x, y *tensor.Tensor, p pool.MaxGradParams) error {
	o := r.op(y, "max pool and bias gradient", x, bytesOf(dx, db, dy, x, y, again(db, p.Accumulate)))
	return r.do(o, func() error { return r.backend.MaxPoolGradBias(dx, db, dy, x, y, p) })
}

func (r *Recorder) MaxPool3GradBias(dx, db, dy, x, y *tensor.Tensor, p pool.MaxGradParams) error {
	o := r.op(y, "3×3 max pool and bias gradient", x, bytesOf(dx, db, dy, x, y, again(db, p.Accumulate)))
	return r.do(o, func() error { return r.backend.MaxPool3GradBias(dx, db, dy, x, y, p) })
}

func (r *Recorder) MaxPool3Grad(dx, dy, x, y *tensor.Tensor, relu bool) error {
	o := r.op(y, "3×3 max pool gradient", x, bytesOf(dx, dy, x, y))
	return r.do(o, func() error { return r.backend.MaxPool3Grad(dx, dy, x, y, relu) })
}

func (r *Recorder) MaxPool3(y, x *tensor.Tensor) error {
	r.countPool(y)
	return r.do(r.op(y, "3×3 max pool", x, bytesOf(y, x)), func() error { return r.backend.MaxPool3(y, x) })
}

func (r *Recorder) BagPool(g, x, bags *tensor.Tensor, kind pool.Kind) error {
	return r.do(r.op(x, "bag pool", x, bytesOf(g, x, bags)), func() error { return r.backend.BagPool(g, x, bags, kind) })
}

func (r *Recorder) BagPoolGrad(dx, dg, x, g, bags *tensor.Tensor, kind pool.Kind, accumulate bool) error {
	o := r.op(x, "bag pool gradient", dx, bytesOf(dx, dg, bags, again(dx, accumulate)))
	if kind == pool.Max {
		o.Bytes += bytesOf(x, g)
	}
	return r.do(o, func() error { return r.backend.BagPoolGrad(dx, dg, x, g, bags, kind, accumulate) })
}

func (r *Recorder) NoiseStep(out noise.StepOutput, logits, confidence, labels, bags *tensor.Tensor,
	p noise.StepParams) error {
	r.names[out.Loss] = "noise"
	o := Op{Layer: "noise", Name: "noise step", Shape: shapeOf(logits), Bytes: bytesOf(logits, confidence, labels, bags,
		out.Loss, out.DLogits, out.DO, out.Prob, out.Observed, out.Posterior, out.BagLogit)}
	return r.do(o, func() error { return r.backend.NoiseStep(out, logits, confidence, labels, bags, p) })
}

func (r *Recorder) LargeLosses(targets, o, z, count *tensor.Tensor, instead float32) error {
	op := Op{Layer: "noise", Name: "large losses", Shape: shapeOf(o), Bytes: bytesOf(targets, o, z, count)}
	return r.do(op, func() error { return r.backend.LargeLosses(targets, o, z, count, instead) })
}

func (r *Recorder) SGD(entries []update.Entry, momentum float32) error {
	return r.do(parameters("sgd", entries, updating), func() error { return r.backend.SGD(entries, momentum) })
}

func (r *Recorder) Adam(entries []update.Entry, p update.AdamParams) error {
	return r.do(parameters("adam", entries, updating), func() error { return r.backend.Adam(entries, p) })
}

func (r *Recorder) AdamW(entries []update.Entry, p update.AdamParams) error {
	return r.do(parameters("adamw", entries, updating), func() error { return r.backend.AdamW(entries, p) })
}

func (r *Recorder) Average(entries []update.Entry, share float32) error {
	o := parameters("average", entries, func(e update.Entry) int { return 3 * e.W.Bytes() })
	return r.do(o, func() error { return r.backend.Average(entries, share) })
}

func (r *Recorder) Exchange(entries []update.Entry) error {
	o := parameters("exchange", entries, func(e update.Entry) int { return 4 * e.W.Bytes() })
	return r.do(o, func() error { return r.backend.Exchange(entries) })
}

func (r *Recorder) GradNorm(norm *tensor.Tensor, entries []update.Entry) error {
	o := parameters("gradient norm", entries, func(e update.Entry) int { return e.G.Bytes() })
	return r.do(o, func() error { return r.backend.GradNorm(norm, entries) })
}

// Clip counts the bytes of a norm above the limit.
func (r *Recorder) Clip(entries []update.Entry, norm *tensor.Tensor, limit float32) error {
	o := parameters("clip", entries, func(e update.Entry) int { return 2 * e.G.Bytes() })
	return r.do(o, func() error { return r.backend.Clip(entries, norm, limit) })
}

// parameters describes an operation on all parameters.
func parameters(name string, entries []update.Entry, moved func(e update.Entry) int) Op {
	o, count := Op{Layer: whole, Name: name}, 0
	for _, e := range entries {
		o.Bytes, count = o.Bytes+moved(e), count+e.W.Len()
	}
	o.Shape = fmt.Sprint(count)
	return o
}

// updating reads the gradient, reads and writes weight and state, and writes the copy.
func updating(e update.Entry) int { return bytesOf(e.G, e.W, e.W, e.M, e.M, e.V, e.V, e.Copy) }

func (r *Recorder) Zero(t *tensor.Tensor) error {
	return r.do(r.op(t, "zero", t, bytesOf(t)), func() error { return r.backend.Zero(t) })
}

func (r *Recorder) Normalize(x, from, sizes, flips *tensor.Tensor, p pixels.Params) error {
	o := Op{Layer: "input", Name: "normalize", Shape: shapeOf(x), Bytes: bytesOf(x, from, sizes, flips)}
	return r.do(o, func() error { return r.backend.Normalize(x, from, sizes, flips, p) })
}
