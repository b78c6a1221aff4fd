package conform

import (
	"nmn/kernels/conv"
	"nmn/kernels/noise"
	"nmn/kernels/pixels"
	"nmn/kernels/pool"
	"nmn/kernels/tensor"
	"nmn/kernels/update"
)

// broken is the reference with some operations replaced: a nil field leaves the operation right.
type broken struct {
	*referenceBackend
	conv        func(b *referenceBackend, y, x, w, bias *tensor.Tensor, p conv.Params) error
	gradData    func(b *referenceBackend, dx, dy, w, mask *tensor.Tensor, p conv.Params) error
	dataBias    func(b *referenceBackend, dx, db, dy, w, mask *tensor.Tensor, p conv.Params) error
	gradFilter  func(b *referenceBackend, dw, x, dy *tensor.Tensor, p conv.Params) error
	reluGrad    func(b *referenceBackend, dx, dy, y *tensor.Tensor) error
	dropout     func(b *referenceBackend, y, x, keys, seed *tensor.Tensor, rate float32) error
	maxPoolGrad func(b *referenceBackend, dx, dy, x, y *tensor.Tensor, relu bool) error
	poolBias    func(b *referenceBackend, dx, db, dy, x, y *tensor.Tensor, p pool.MaxGradParams) error
	bagPool     func(b *referenceBackend, g, x, bags *tensor.Tensor, kind pool.Kind) error
	bagPoolGrad func(b *referenceBackend, dx, dg, x, g, bags *tensor.Tensor, kind pool.Kind, accumulate bool) error
	noiseStep   func(b *referenceBackend, out noise.StepOutput, logits, confidence, labels, bags *tensor.Tensor,
		p noise.StepParams) error
	noisyOR   func(b *referenceBackend, p, o, bags *tensor.Tensor) error
	bce       func(b *referenceBackend, loss, do, o, z *tensor.Tensor, scale float32) error
	large     func(b *referenceBackend, targets, o, z, count *tensor.Tensor, instead float32) error
	sgd       func(b *referenceBackend, entries []update.Entry, momentum float32) error
	adam      func(b *referenceBackend, entries []update.Entry, p update.AdamParams) error
	adamW     func(b *referenceBackend, entries []update.Entry, p update.AdamParams) error
	average   func(b *referenceBackend, entries []update.Entry, share float32) error
	exchange  func(b *referenceBackend, entries []update.Entry) error
	norm      func(b *referenceBackend, norm *tensor.Tensor, entries []update.Entry) error
	clip      func(b *referenceBackend, entries []update.Entry, norm *tensor.Tensor, limit float32) error
	normalize func(b *referenceBackend, x, picture, sizes, flips *tensor.Tensor, p pixels.Params) error
	sync      func(b *referenceBackend) error

	brokenSequences
	brokenTransformers
	brokenResidual
}

func (b *broken) Conv(y, x, w, bias *tensor.Tensor, p conv.Params) error {
	if b.conv != nil {
		return b.conv(b.referenceBackend, y, x, w, bias, p)
	}
	return b.referenceBackend.Conv(y, x, w, bias, p)
}

func (b *broken) ConvGradData(dx, dy, w, mask *tensor.Tensor, p conv.Params) error {
	if b.gradData != nil {
		return b.gradData(b.referenceBackend, dx, dy, w, mask, p)
	}
	return b.referenceBackend.ConvGradData(dx, dy, w, mask, p)
}

func (b *broken) ConvGradDataBias(dx, db, dy, w, mask *tensor.Tensor, p conv.Params) error {
	if b.dataBias != nil {
		return b.dataBias(b.referenceBackend, dx, db, dy, w, mask, p)
	}
	return b.referenceBackend.ConvGradDataBias(dx, db, dy, w, mask, p)
}

func (b *broken) ConvGradFilter(dw, x, dy *tensor.Tensor, p conv.Params) error {
	if b.gradFilter != nil {
		return b.gradFilter(b.referenceBackend, dw, x, dy, p)
	}
	return b.referenceBackend.ConvGradFilter(dw, x, dy, p)
}

func (b *broken) Dropout(y, x, keys, seed *tensor.Tensor, rate float32) error {
	if b.dropout != nil {
		return b.dropout(b.referenceBackend, y, x, keys, seed, rate)
	}
	return b.referenceBackend.Dropout(y, x, keys, seed, rate)
}

func (b *broken) MaxPoolGrad(dx, dy, x, y *tensor.Tensor, relu bool) error {
	if b.maxPoolGrad != nil {
		return b.maxPoolGrad(b.referenceBackend, dx, dy, x, y, relu)
	}
	return b.referenceBackend.MaxPoolGrad(dx, dy, x, y, relu)
}

func (b *broken) MaxPoolGradBias(dx, db, dy, x, y *tensor.Tensor, p pool.MaxGradParams) error {
	if b.poolBias != nil {
		return b.poolBias(b.referenceBackend, dx, db, dy, x, y, p)
	}
	return b.referenceBackend.MaxPoolGradBias(dx, db, dy, x, y, p)
}

func (b *broken) BagPool(g, x, bags *tensor.Tensor, kind pool.Kind) error {
	if b.bagPool != nil {
		return b.bagPool(b.referenceBackend, g, x, bags, kind)
	}
	return b.referenceBackend.BagPool(g, x, bags, kind)
}

func (b *broken) BagPoolGrad(dx, dg, x, g, bags *tensor.Tensor, kind pool.Kind, accumulate bool) error {
	if b.bagPoolGrad != nil {
		return b.bagPoolGrad(b.referenceBackend, dx, dg, x, g, bags, kind, accumulate)
	}
	return b.referenceBackend.BagPoolGrad(dx, dg, x, g, bags, kind, accumulate)
}

func (b *broken) NoiseStep(out noise.StepOutput, logits, confidence, labels, bags *tensor.Tensor,
	p noise.StepParams) error {
	if b.noiseStep != nil {
		return b.noiseStep(b.referenceBackend, out, logits, confidence, labels, bags, p)
	}
	return b.referenceBackend.NoiseStep(out, logits, confidence, labels, bags, p)
}

func (b *broken) LargeLosses(targets, o, z, count *tensor.Tensor, instead float32) error {
	if b.large != nil {
		return b.large(b.referenceBackend, targets, o, z, count, instead)
	}
	return b.referenceBackend.LargeLosses(targets, o, z, count, instead)
}

func (b *broken) SGD(entries []update.Entry, momentum float32) error {
	if b.sgd != nil {
		return b.sgd(b.referenceBackend, entries, momentum)
	}
	return b.referenceBackend.SGD(entries, momentum)
}

func (b *broken) Adam(entries []update.Entry, p update.AdamParams) error {
	if b.adam != nil {
		return b.adam(b.referenceBackend, entries, p)
	}
	return b.referenceBackend.Adam(entries, p)
}

func (b *broken) AdamW(entries []update.Entry, p update.AdamParams) error {
	if b.adamW != nil {
		return b.adamW(b.referenceBackend, entries, p)
	}
	return b.referenceBackend.AdamW(entries, p)
}

func (b *broken) Average(entries []update.Entry, share float32) error {
	if b.average != nil {
		return b.average(b.referenceBackend, entries, share)
	}
	return b.referenceBackend.Average(entries, share)
}

func (b *broken) Exchange(entries []update.Entry) error {
	if b.exchange != nil {
		return b.exchange(b.referenceBackend, entries)
	}
	return b.referenceBackend.Exchange(entries)
}

func (b *broken) GradNorm(norm *tensor.Tensor, entries []update.Entry) error {
	if b.norm != nil {
		return b.norm(b.referenceBackend, norm, entries)
	}
	return b.referenceBackend.GradNorm(norm, entries)
}

func (b *broken) Clip(entries []update.Entry, norm *tensor.Tensor, limit float32) error {
	if b.clip != nil {
		return b.clip(b.referenceBackend, entries, norm, limit)
	}
	return b.referenceBackend.Clip(entries, norm, limit)
}

func (b *broken) Normalize(x, picture, sizes, flips *tensor.Tensor, p pixels.Params) error {
	if b.normalize != nil {
		return b.normalize(b.referenceBackend, x, picture, sizes, flips, p)
	}
	return b.referenceBackend.Normalize(x, picture, sizes, flips, p)
}

func (b *broken) Sync() error {
	if b.sync != nil {
		return b.sync(b.referenceBackend)
	}
	return nil
}
