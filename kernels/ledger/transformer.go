package ledger

import (
	"nmn/kernels/conv"
	"nmn/kernels/tensor"
	"nmn/kernels/transformer"
)

// LayerNorm implements transformer.Ops.
func (l *Ledger) LayerNorm(y, x, gain, bias *tensor.Tensor, eps float32) error {
	rows, err := transformer.FitLayerNorm(y, x, gain, bias, eps)
	if err != nil || rows.Count == 0 {
		return err
	}
	l.launch(Rest, typed("layer_norm", x), some(x, gain, bias), some(y))
	return nil
}

// GELU implements transformer.Ops.
func (l *Ledger) GELU(y, x *tensor.Tensor, kind transformer.GELUKind) error {
	if err := transformer.FitGELU(y, x, kind); err != nil || x.Len() == 0 {
		return err
	}
	l.launch(Rest, typed("follow", x), some(x), some(y))
	return nil
}

// Attention implements transformer.Ops. Keys and values are counted once, though each block of queries comes back to them.
func (l *Ledger) Attention(y, qkv *tensor.Tensor, heads int) error {
	s, err := transformer.FitAttention(y, qkv, heads)
	if err != nil || y.Len() == 0 {
		return err
	}
	kernel, math := "attention_64", tensor.FP32
	switch halves := y.DType() == tensor.BFloat16; {
	case halves && s.OnTensorCores():
		math = tensor.BF16
	case halves || s.Width > 64:
		kernel = "attention_160"
	}
	l.launch(Forward, typed(kernel, y), some(qkv), some(y))
	own := &l.launches[len(l.launches)-1]
	own.FLOP, own.Math = 4*float64(s.N*s.T)*float64(s.T*s.D()), math
	return nil
}

// Linear implements transformer.Ops: a 1×1 convolution and, in a pass of its own, what follows it.
func (l *Ledger) Linear(y, x, w, b *tensor.Tensor, p transformer.LinearParams) error {
	s, err := transformer.FitLinear(y, x, w, b, p)
	if err != nil || y.Len() == 0 {
		return err
	}
	product := y
	if p.Residual != nil && p.Residual.Address() == y.Address() {
		l.reserve("transformer products", y.Bytes())
		if product, err = tensor.OfAddress(l.workspaces["transformer products"].at, y.DType(), y.Shape()...); err != nil {
			return err
		}
	}
	if err := l.rows(product, x, w, b, s); err != nil {
		return err
	}
	if p.GELU != transformer.None || p.Scale != nil || p.Residual != nil {
		l.launch(Rest, typed("follow", y), some(product, p.Scale, p.Residual), some(y))
	}
	return nil
}

// rows writes the product of rows with weights down, as a 1×1 convolution.
func (l *Ledger) rows(y, x, w, b *tensor.Tensor, s transformer.Layer) error {
	y, x, w, err := transformer.AsConvolution(y, x, w, s)
	if err != nil {
		return err
	}
	return l.Conv(y, x, w, b, conv.Params{})
}

// PrepareLinear implements transformer.Ops: a card reads weights as they are.
func (l *Ledger) PrepareLinear(w *tensor.Tensor) error {
	_, err := transformer.FitPrepareLinear(w)
	return err
}

// AddScaled implements transformer.Ops.
func (l *Ledger) AddScaled(y, x, r, scale *tensor.Tensor) error {
	if _, err := transformer.FitAddScaled(y, x, r, scale); err != nil || y.Len() == 0 {
		return err
	}
	l.launch(Rest, typed("follow", y), some(x, r, scale), some(y))
	return nil
}

// Tokens implements transformer.Ops.
func (l *Ledger) Tokens(y, patches, prefix, position *tensor.Tensor) error {
	if _, err := transformer.FitTokens(y, patches, prefix, position); err != nil || y.Len() == 0 {
		return err
	}
	l.launch(Rest, typed("tokens", y), some(patches, prefix, position), some(y))
	return nil
}

// PatchEmbed implements transformer.Ops: patches become rows, which are then multiplied as those of a linear layer.
func (l *Ledger) PatchEmbed(y, x, w, b *tensor.Tensor) error {
	s, err := transformer.FitPatchEmbed(y, x, w, b)
	if err != nil || y.Len() == 0 {
		return err
	}
	l.reserve("transformer patches", x.Bytes())
	l.launch(Rest, typed("patch_rows", x), some(x), some(x))
	layer := transformer.Layer{Rows: s.N * s.Count(), C: s.P * s.P * s.C, K: s.K}
	rows, err := tensor.OfAddress(l.workspaces["transformer patches"].at, x.DType(), layer.Rows, layer.C)
	if err != nil {
		return err
	}
	return l.rows(y, rows, w, b, layer)
}
