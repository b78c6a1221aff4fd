package conform

import (
	"nmn/kernels/tensor"
	"nmn/kernels/transformer"
	"nmn/tools/ref"
)

func (b *referenceBackend) LayerNorm(y, x, gain, bias *tensor.Tensor, eps float32) error {
	rows, err := transformer.FitLayerNorm(y, x, gain, bias, eps)
	if err == nil {
		put(y, ref.LayerNorm(get(x), get(gain), get(bias), rows.Width, float64(eps)))
	}
	return err
}

func (b *referenceBackend) GELU(y, x *tensor.Tensor, kind transformer.GELUKind) error {
	err := transformer.FitGELU(y, x, kind)
	if err == nil {
		put(y, gelus[kind](get(x)))
	}
	return err
}

func (b *referenceBackend) Attention(y, qkv *tensor.Tensor, heads int) error {
	s, err := transformer.FitAttention(y, qkv, heads)
	if err == nil {
		put(y, ref.Attention(get(qkv), s.N, s.T, s.D(), heads))
	}
	return err
}

func (b *referenceBackend) Linear(y, x, w, bias *tensor.Tensor, p transformer.LinearParams) error {
	l, err := transformer.FitLinear(y, x, w, bias, p)
	if err != nil {
		return err
	}
	residual := make([]float64, y.Len())
	if p.Residual != nil {
		residual = get(p.Residual)
	}
	put(y, ref.AddScaled(gelus[p.GELU](ref.Linear(get(x), get(w), get(bias), l.C, l.K)), residual, get(p.Scale), l.K))
	return nil
}

func (b *referenceBackend) PrepareLinear(w *tensor.Tensor) error {
	_, err := transformer.FitPrepareLinear(w)
	return err
}

func (b *referenceBackend) AddScaled(y, x, r, scale *tensor.Tensor) error {
	rows, err := transformer.FitAddScaled(y, x, r, scale)
	if err == nil {
		put(y, ref.AddScaled(get(x), get(r), get(scale), rows.Width))
	}
	return err
}

func (b *referenceBackend) Tokens(y, patches, prefix, position *tensor.Tensor) error {
	s, err := transformer.FitTokens(y, patches, prefix, position)
	if err == nil {
		put(y, ref.Tokens(get(patches), get(prefix), get(position), s.N, s.Patches, s.D))
	}
	return err
}

func (b *referenceBackend) PatchEmbed(y, x, w, bias *tensor.Tensor) error {
	s, err := transformer.FitPatchEmbed(y, x, w, bias)
	if err == nil {
		put(y, ref.PatchEmbed(get(x), get(w), get(bias), s.N, s.H, s.W, s.C, s.P, s.K))
	}
	return err
}
