package conform

import (
	"nmn/kernels"
	"nmn/kernels/conv"
	"nmn/kernels/noise"
	"nmn/kernels/pixels"
	"nmn/kernels/pool"
	"nmn/kernels/tensor"
	"nmn/kernels/transformer"
	"nmn/kernels/update"
	"nmn/tools/ref"
)

type array = *tensor.Tensor

// fault is a fault that the suite must find: the operation that goes wrong, and a part of the message.
type fault struct {
	name, op, message string
	wrong             any // a function like the method op of kernels.Backend, or Sync
}

// broken is a right backend with a fault.
type broken struct {
	kernels.Backend
	fault
}

// or is the wrong operation of a backend, or the right one if another is wrong.
func or[F any](b *broken, operation string, right F) F {
	if wrong, ok := b.wrong.(F); ok && b.op == operation {
		return wrong
	}
	return right
}

func (b *broken) Conv(y, x, w, bias array, p conv.Params) error {
	return or(b, "Conv", kernels.Backend.Conv)(b.Backend, y, x, w, bias, p)
}

func (b *broken) ConvGradData(dx, dy, w, mask array, p conv.Params) error {
	return or(b, "ConvGradData", kernels.Backend.ConvGradData)(b.Backend, dx, dy, w, mask, p)
}

func (b *broken) ConvGradDataBias(dx, db, dy, w, mask array, p conv.Params) error {
	return or(b, "ConvGradDataBias", kernels.Backend.ConvGradDataBias)(b.Backend, dx, db, dy, w, mask, p)
}

func (b *broken) ConvGradFilter(dw, x, dy array, p conv.Params) error {
	return or(b, "ConvGradFilter", kernels.Backend.ConvGradFilter)(b.Backend, dw, x, dy, p)
}

func (b *broken) Dropout(y, x, keys, seed array, rate float32) error {
	return or(b, "Dropout", kernels.Backend.Dropout)(b.Backend, y, x, keys, seed, rate)
}

func (b *broken) MaxPoolGrad(dx, dy, x, y array, relu bool) error {
	return or(b, "MaxPoolGrad", kernels.Backend.MaxPoolGrad)(b.Backend, dx, dy, x, y, relu)
}

func (b *broken) MaxPoolGradBias(dx, db, dy, x, y array, p pool.MaxGradParams) error {
	return or(b, "MaxPoolGradBias", kernels.Backend.MaxPoolGradBias)(b.Backend, dx, db, dy, x, y, p)
}

func (b *broken) BagPool(g, x, bags array, kind pool.Kind) error {
	return or(b, "BagPool", kernels.Backend.BagPool)(b.Backend, g, x, bags, kind)
}

func (b *broken) BagPoolGrad(dx, dg, x, g, bags array, kind pool.Kind, accumulate bool) error {
	return or(b, "BagPoolGrad", kernels.Backend.BagPoolGrad)(b.Backend, dx, dg, x, g, bags, kind, accumulate)
}

func (b *broken) NoiseStep(out noise.StepOutput, logits, confidence, labels, bags array,
	p noise.StepParams) error {
	return or(b, "NoiseStep", kernels.Backend.NoiseStep)(b.Backend, out, logits, confidence, labels, bags, p)
}

func (b *broken) LargeLosses(targets, o, z, count array, instead float32) error {
	return or(b, "LargeLosses", kernels.Backend.LargeLosses)(b.Backend, targets, o, z, count, instead)
}

func (b *broken) SGD(entries []update.Entry, momentum float32) error {
	return or(b, "SGD", kernels.Backend.SGD)(b.Backend, entries, momentum)
}

func (b *broken) Adam(entries []update.Entry, p update.AdamParams) error {
	return or(b, "Adam", kernels.Backend.Adam)(b.Backend, entries, p)
}

func (b *broken) AdamW(entries []update.Entry, p update.AdamParams) error {
	return or(b, "AdamW", kernels.Backend.AdamW)(b.Backend, entries, p)
}

func (b *broken) Average(entries []update.Entry, share float32) error {
	return or(b, "Average", kernels.Backend.Average)(b.Backend, entries, share)
}

func (b *broken) Exchange(entries []update.Entry) error {
	return or(b, "Exchange", kernels.Backend.Exchange)(b.Backend, entries)
}

func (b *broken) GradNorm(norm array, entries []update.Entry) error {
	return or(b, "GradNorm", kernels.Backend.GradNorm)(b.Backend, norm, entries)
}

func (b *broken) Clip(entries []update.Entry, norm array, limit float32) error {
	return or(b, "Clip", kernels.Backend.Clip)(b.Backend, entries, norm, limit)
}

func (b *broken) Normalize(x, picture, sizes, flips array, p pixels.Params) error {
	return or(b, "Normalize", kernels.Backend.Normalize)(b.Backend, x, picture, sizes, flips, p)
}

func (b *broken) ConvAdd(y, x, w, bias, shortcut array, p conv.Params) error {
	return or(b, "ConvAdd", kernels.Backend.ConvAdd)(b.Backend, y, x, w, bias, shortcut, p)
}

func (b *broken) MaxPool3(y, x array) error {
	return or(b, "MaxPool3", kernels.Backend.MaxPool3)(b.Backend, y, x)
}

func (b *broken) MaxPool3Grad(dx, dy, x, y array, relu bool) error {
	return or(b, "MaxPool3Grad", kernels.Backend.MaxPool3Grad)(b.Backend, dx, dy, x, y, relu)
}

func (b *broken) LSTM(h, c, gates, wh, h0, c0 array) error {
	return or(b, "LSTM", kernels.Backend.LSTM)(b.Backend, h, c, gates, wh, h0, c0)
}

func (b *broken) LSTMGrad(gates, dh, c, wh, c0, dcLast, dh0, dc0 array) error {
	return or(b, "LSTMGrad", kernels.Backend.LSTMGrad)(b.Backend, gates, dh, c, wh, c0, dcLast, dh0, dc0)
}

func (b *broken) Embed(y, table, words array) error {
	return or(b, "Embed", kernels.Backend.Embed)(b.Backend, y, table, words)
}

func (b *broken) EmbedGrad(dtable, dy, words array) error {
	return or(b, "EmbedGrad", kernels.Backend.EmbedGrad)(b.Backend, dtable, dy, words)
}

func (b *broken) CrossEntropy(loss, dh, dw, db, h, w, bias, targets array, scale float32) error {
	entropy := or(b, "CrossEntropy", kernels.Backend.CrossEntropy)
	return entropy(b.Backend, loss, dh, dw, db, h, w, bias, targets, scale)
}

func (b *broken) LogSoftmax(x array) error {
	return or(b, "LogSoftmax", kernels.Backend.LogSoftmax)(b.Backend, x)
}

func (b *broken) LayerNorm(y, x, gain, bias array, eps float32) error {
	return or(b, "LayerNorm", kernels.Backend.LayerNorm)(b.Backend, y, x, gain, bias, eps)
}

func (b *broken) GELU(y, x array, kind transformer.GELUKind) error {
	return or(b, "GELU", kernels.Backend.GELU)(b.Backend, y, x, kind)
}

func (b *broken) Attention(y, qkv array, heads int) error {
	return or(b, "Attention", kernels.Backend.Attention)(b.Backend, y, qkv, heads)
}

func (b *broken) Linear(y, x, w, bias array, p transformer.LinearParams) error {
	return or(b, "Linear", kernels.Backend.Linear)(b.Backend, y, x, w, bias, p)
}

func (b *broken) AddScaled(y, x, r, scale array) error {
	return or(b, "AddScaled", kernels.Backend.AddScaled)(b.Backend, y, x, r, scale)
}

func (b *broken) Tokens(y, patches, prefix, position array) error {
	return or(b, "Tokens", kernels.Backend.Tokens)(b.Backend, y, patches, prefix, position)
}

func (b *broken) PatchEmbed(y, x, w, bias array) error {
	return or(b, "PatchEmbed", kernels.Backend.PatchEmbed)(b.Backend, y, x, w, bias)
}

func (b *broken) Sync() error {
	if wrong, ok := b.wrong.(func() error); ok {
		return wrong()
	}
	return nil
}

func get(t array) []float64 { return wide(t.Float32s()) }

func put(t array, list []float64) {
	for i, v := range list {
		t.Float32s()[i] = float32(v)
	}
}

func mapOf(x array) ref.Map { return ref.Map{T: x.Dim(0), H: x.Dim(1), W: x.Dim(2), C: x.Dim(3)} }
