package conform

import (
	"nmn/kernels/conv"
	"nmn/kernels/noise"
	"nmn/kernels/pixels"
	"nmn/kernels/pool"
	"nmn/kernels/transformer"
	"nmn/kernels/update"
)

// fault is a fault that the suite must find: the operation that goes wrong, and a part of the message.
type fault struct {
	name, op, message string
	wrong             any // a function like a method of referenceBackend: op, or Sync
}

// broken is the reference with a fault.
type broken struct {
	*referenceBackend
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
	return or(b, "Conv", (*referenceBackend).Conv)(b.referenceBackend, y, x, w, bias, p)
}

func (b *broken) ConvGradData(dx, dy, w, mask array, p conv.Params) error {
	return or(b, "ConvGradData", (*referenceBackend).ConvGradData)(b.referenceBackend, dx, dy, w, mask, p)
}

func (b *broken) ConvGradDataBias(dx, db, dy, w, mask array, p conv.Params) error {
	return or(b, "ConvGradDataBias", (*referenceBackend).ConvGradDataBias)(b.referenceBackend, dx, db, dy, w, mask, p)
}

func (b *broken) ConvGradFilter(dw, x, dy array, p conv.Params) error {
	return or(b, "ConvGradFilter", (*referenceBackend).ConvGradFilter)(b.referenceBackend, dw, x, dy, p)
}

func (b *broken) Dropout(y, x, keys, seed array, rate float32) error {
	return or(b, "Dropout", (*referenceBackend).Dropout)(b.referenceBackend, y, x, keys, seed, rate)
}

func (b *broken) MaxPoolGrad(dx, dy, x, y array, relu bool) error {
	return or(b, "MaxPoolGrad", (*referenceBackend).MaxPoolGrad)(b.referenceBackend, dx, dy, x, y, relu)
}

func (b *broken) MaxPoolGradBias(dx, db, dy, x, y array, p pool.MaxGradParams) error {
	return or(b, "MaxPoolGradBias", (*referenceBackend).MaxPoolGradBias)(b.referenceBackend, dx, db, dy, x, y, p)
}

func (b *broken) BagPool(g, x, bags array, kind pool.Kind) error {
	return or(b, "BagPool", (*referenceBackend).BagPool)(b.referenceBackend, g, x, bags, kind)
}

func (b *broken) BagPoolGrad(dx, dg, x, g, bags array, kind pool.Kind, accumulate bool) error {
	return or(b, "BagPoolGrad", (*referenceBackend).BagPoolGrad)(b.referenceBackend, dx, dg, x, g, bags, kind, accumulate)
}

func (b *broken) NoiseStep(out noise.StepOutput, logits, confidence, labels, bags array,
	p noise.StepParams) error {
	return or(b, "NoiseStep", (*referenceBackend).NoiseStep)(b.referenceBackend, out, logits, confidence, labels, bags, p)
}

func (b *broken) LargeLosses(targets, o, z, count array, instead float32) error {
	return or(b, "LargeLosses", (*referenceBackend).LargeLosses)(b.referenceBackend, targets, o, z, count, instead)
}

func (b *broken) SGD(entries []update.Entry, momentum float32) error {
	return or(b, "SGD", (*referenceBackend).SGD)(b.referenceBackend, entries, momentum)
}

func (b *broken) Adam(entries []update.Entry, p update.AdamParams) error {
	return or(b, "Adam", (*referenceBackend).Adam)(b.referenceBackend, entries, p)
}

func (b *broken) AdamW(entries []update.Entry, p update.AdamParams) error {
	return or(b, "AdamW", (*referenceBackend).AdamW)(b.referenceBackend, entries, p)
}

func (b *broken) Average(entries []update.Entry, share float32) error {
	return or(b, "Average", (*referenceBackend).Average)(b.referenceBackend, entries, share)
}

func (b *broken) Exchange(entries []update.Entry) error {
	return or(b, "Exchange", (*referenceBackend).Exchange)(b.referenceBackend, entries)
}

func (b *broken) GradNorm(norm array, entries []update.Entry) error {
	return or(b, "GradNorm", (*referenceBackend).GradNorm)(b.referenceBackend, norm, entries)
}

func (b *broken) Clip(entries []update.Entry, norm array, limit float32) error {
	return or(b, "Clip", (*referenceBackend).Clip)(b.referenceBackend, entries, norm, limit)
}

func (b *broken) Normalize(x, picture, sizes, flips array, p pixels.Params) error {
	return or(b, "Normalize", (*referenceBackend).Normalize)(b.referenceBackend, x, picture, sizes, flips, p)
}

func (b *broken) ConvAdd(y, x, w, bias, shortcut array, p conv.Params) error {
	return or(b, "ConvAdd", (*referenceBackend).ConvAdd)(b.referenceBackend, y, x, w, bias, shortcut, p)
}

func (b *broken) MaxPool3(y, x array) error {
	return or(b, "MaxPool3", (*referenceBackend).MaxPool3)(b.referenceBackend, y, x)
}

func (b *broken) MaxPool3Grad(dx, dy, x, y array, relu bool) error {
	return or(b, "MaxPool3Grad", (*referenceBackend).MaxPool3Grad)(b.referenceBackend, dx, dy, x, y, relu)
}

func (b *broken) LSTM(h, c, gates, wh, h0, c0 array) error {
	return or(b, "LSTM", (*referenceBackend).LSTM)(b.referenceBackend, h, c, gates, wh, h0, c0)
}

func (b *broken) LSTMGrad(gates, dh, c, wh, c0, dcLast, dh0, dc0 array) error {
	return or(b, "LSTMGrad", (*referenceBackend).LSTMGrad)(b.referenceBackend, gates, dh, c, wh, c0, dcLast, dh0, dc0)
}

func (b *broken) Embed(y, table, words array) error {
	return or(b, "Embed", (*referenceBackend).Embed)(b.referenceBackend, y, table, words)
}

func (b *broken) EmbedGrad(dtable, dy, words array) error {
	return or(b, "EmbedGrad", (*referenceBackend).EmbedGrad)(b.referenceBackend, dtable, dy, words)
}

func (b *broken) CrossEntropy(loss, dh, dw, db, h, w, bias, targets array, scale float32) error {
	entropy := or(b, "CrossEntropy", (*referenceBackend).CrossEntropy)
	return entropy(b.referenceBackend, loss, dh, dw, db, h, w, bias, targets, scale)
}

func (b *broken) LogSoftmax(x array) error {
	return or(b, "LogSoftmax", (*referenceBackend).LogSoftmax)(b.referenceBackend, x)
}

func (b *broken) LayerNorm(y, x, gain, bias array, eps float32) error {
	return or(b, "LayerNorm", (*referenceBackend).LayerNorm)(b.referenceBackend, y, x, gain, bias, eps)
}

func (b *broken) GELU(y, x array, kind transformer.GELUKind) error {
	return or(b, "GELU", (*referenceBackend).GELU)(b.referenceBackend, y, x, kind)
}

func (b *broken) Attention(y, qkv array, heads int) error {
	return or(b, "Attention", (*referenceBackend).Attention)(b.referenceBackend, y, qkv, heads)
}

func (b *broken) Linear(y, x, w, bias array, p transformer.LinearParams) error {
	return or(b, "Linear", (*referenceBackend).Linear)(b.referenceBackend, y, x, w, bias, p)
}

func (b *broken) AddScaled(y, x, r, scale array) error {
	return or(b, "AddScaled", (*referenceBackend).AddScaled)(b.referenceBackend, y, x, r, scale)
}

func (b *broken) Tokens(y, patches, prefix, position array) error {
	return or(b, "Tokens", (*referenceBackend).Tokens)(b.referenceBackend, y, patches, prefix, position)
}

func (b *broken) PatchEmbed(y, x, w, bias array) error {
	return or(b, "PatchEmbed", (*referenceBackend).PatchEmbed)(b.referenceBackend, y, x, w, bias)
}

func (b *broken) Sync() error {
	if wrong, ok := b.wrong.(func() error); ok {
		return wrong()
	}
	return nil
}
