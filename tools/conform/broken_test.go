package conform

import (
	"reflect"

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
	dropout     func(b *referenceBackend, y, x, keys, seed *tensor.Tensor, rate float32) error
	maxPoolGrad func(b *referenceBackend, dx, dy, x, y *tensor.Tensor, relu bool) error
	poolBias    func(b *referenceBackend, dx, db, dy, x, y *tensor.Tensor, p pool.MaxGradParams) error
	bagPool     func(b *referenceBackend, g, x, bags *tensor.Tensor, kind pool.Kind) error
	bagPoolGrad func(b *referenceBackend, dx, dg, x, g, bags *tensor.Tensor, kind pool.Kind, accumulate bool) error
	noiseStep   func(b *referenceBackend, out noise.StepOutput, logits, confidence, labels, bags *tensor.Tensor,
		p noise.StepParams) error
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

// or is an operation, or the right one in its place if it is nil.
func or[F any](operation, right F) F {
	if reflect.ValueOf(operation).IsNil() {
		return right
	}
	return operation
}

func (b *broken) Conv(y, x, w, bias *tensor.Tensor, p conv.Params) error {
	return or(b.conv, (*referenceBackend).Conv)(b.referenceBackend, y, x, w, bias, p)
}

func (b *broken) ConvGradData(dx, dy, w, mask *tensor.Tensor, p conv.Params) error {
	return or(b.gradData, (*referenceBackend).ConvGradData)(b.referenceBackend, dx, dy, w, mask, p)
}

func (b *broken) ConvGradDataBias(dx, db, dy, w, mask *tensor.Tensor, p conv.Params) error {
	return or(b.dataBias, (*referenceBackend).ConvGradDataBias)(b.referenceBackend, dx, db, dy, w, mask, p)
}

func (b *broken) ConvGradFilter(dw, x, dy *tensor.Tensor, p conv.Params) error {
	return or(b.gradFilter, (*referenceBackend).ConvGradFilter)(b.referenceBackend, dw, x, dy, p)
}

func (b *broken) Dropout(y, x, keys, seed *tensor.Tensor, rate float32) error {
	return or(b.dropout, (*referenceBackend).Dropout)(b.referenceBackend, y, x, keys, seed, rate)
}

func (b *broken) MaxPoolGrad(dx, dy, x, y *tensor.Tensor, relu bool) error {
	return or(b.maxPoolGrad, (*referenceBackend).MaxPoolGrad)(b.referenceBackend, dx, dy, x, y, relu)
}

func (b *broken) MaxPoolGradBias(dx, db, dy, x, y *tensor.Tensor, p pool.MaxGradParams) error {
	return or(b.poolBias, (*referenceBackend).MaxPoolGradBias)(b.referenceBackend, dx, db, dy, x, y, p)
}

func (b *broken) BagPool(g, x, bags *tensor.Tensor, kind pool.Kind) error {
	return or(b.bagPool, (*referenceBackend).BagPool)(b.referenceBackend, g, x, bags, kind)
}

func (b *broken) BagPoolGrad(dx, dg, x, g, bags *tensor.Tensor, kind pool.Kind, accumulate bool) error {
	return or(b.bagPoolGrad, (*referenceBackend).BagPoolGrad)(b.referenceBackend, dx, dg, x, g, bags, kind, accumulate)
}

func (b *broken) NoiseStep(out noise.StepOutput, logits, confidence, labels, bags *tensor.Tensor,
	p noise.StepParams) error {
	return or(b.noiseStep, (*referenceBackend).NoiseStep)(b.referenceBackend, out, logits, confidence, labels, bags, p)
}

func (b *broken) LargeLosses(targets, o, z, count *tensor.Tensor, instead float32) error {
	return or(b.large, (*referenceBackend).LargeLosses)(b.referenceBackend, targets, o, z, count, instead)
}

func (b *broken) SGD(entries []update.Entry, momentum float32) error {
	return or(b.sgd, (*referenceBackend).SGD)(b.referenceBackend, entries, momentum)
}

func (b *broken) Adam(entries []update.Entry, p update.AdamParams) error {
	return or(b.adam, (*referenceBackend).Adam)(b.referenceBackend, entries, p)
}

func (b *broken) AdamW(entries []update.Entry, p update.AdamParams) error {
	return or(b.adamW, (*referenceBackend).AdamW)(b.referenceBackend, entries, p)
}

func (b *broken) Average(entries []update.Entry, share float32) error {
	return or(b.average, (*referenceBackend).Average)(b.referenceBackend, entries, share)
}

func (b *broken) Exchange(entries []update.Entry) error {
	return or(b.exchange, (*referenceBackend).Exchange)(b.referenceBackend, entries)
}

func (b *broken) GradNorm(norm *tensor.Tensor, entries []update.Entry) error {
	return or(b.norm, (*referenceBackend).GradNorm)(b.referenceBackend, norm, entries)
}

func (b *broken) Clip(entries []update.Entry, norm *tensor.Tensor, limit float32) error {
	return or(b.clip, (*referenceBackend).Clip)(b.referenceBackend, entries, norm, limit)
}

func (b *broken) Normalize(x, picture, sizes, flips *tensor.Tensor, p pixels.Params) error {
	return or(b.normalize, (*referenceBackend).Normalize)(b.referenceBackend, x, picture, sizes, flips, p)
}

func (b *broken) Sync() error {
	if b.sync != nil {
		return b.sync(b.referenceBackend)
	}
	return nil
}
