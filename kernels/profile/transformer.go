package profile

import (
	"nmn/kernels/tensor"
	"nmn/kernels/transformer"
)

func (r *Recorder) LayerNorm(y, x, gain, bias *tensor.Tensor, eps float32) error {
	r.names[y] = r.layer(gain)
	o := r.op(gain, "layer norm", x, bytesOf(y, x, gain, bias))
	return r.do(o, func() error { return r.backend.LayerNorm(y, x, gain, bias, eps) })
}

func (r *Recorder) GELU(y, x *tensor.Tensor, kind transformer.GELUKind) error {
	return r.do(r.op(x, "gelu", x, bytesOf(y, x)), func() error { return r.backend.GELU(y, x, kind) })
}

// Attention counts the arithmetic of the two products.
func (r *Recorder) Attention(y, qkv *tensor.Tensor, heads int) error {
	r.names[y] = r.layer(qkv)
	o := r.op(qkv, "attention", qkv, bytesOf(y, qkv))
	if y != nil && y.Rank() == 3 {
		o.FLOP, o.Factors = 4*float64(y.Len())*float64(y.Dim(1)), y.DType()
	}
	return r.do(o, func() error { return r.backend.Attention(y, qkv, heads) })
}

func (r *Recorder) Linear(y, x, w, b *tensor.Tensor, p transformer.LinearParams) error {
	layer := r.layer(w)
	r.names[y] = layer
	o := Op{Layer: layer, Name: "linear", Shape: shapeOf(x) + " * " + shapeOf(w), Bytes: bytesOf(y, x, w, b, p.Scale,
		p.Residual)}
	if w != nil && w.Rank() > 0 && w.Dim(-1) > 0 {
		o.FLOP, o.Factors = products(x, w), w.DType()
	}
	return r.do(o, func() error { return r.backend.Linear(y, x, w, b, p) })
}

func (r *Recorder) PrepareLinear(w *tensor.Tensor) error {
	return r.do(r.op(w, "prepare", w, bytesOf(w, w)), func() error { return r.backend.PrepareLinear(w) })
}

func (r *Recorder) AddScaled(y, x, residual, scale *tensor.Tensor) error {
	o := r.op(x, "scaled sum", x, bytesOf(y, x, residual, scale))
	return r.do(o, func() error { return r.backend.AddScaled(y, x, residual, scale) })
}

func (r *Recorder) Tokens(y, patches, prefix, position *tensor.Tensor) error {
	r.names[y] = r.layer(patches)
	o := r.op(patches, "tokens", y, bytesOf(y, patches, prefix, position))
	return r.do(o, func() error { return r.backend.Tokens(y, patches, prefix, position) })
}

func (r *Recorder) PatchEmbed(y, x, w, b *tensor.Tensor) error {
	layer := r.layer(w)
	r.names[y] = layer
	o := Op{Layer: layer, Name: "patch embedding", Shape: shapeOf(x) + " * " + shapeOf(w), Bytes: bytesOf(y, x, w, b)}
	if y != nil && y.Rank() > 0 && w != nil && w.Rank() == 4 {
		o.FLOP, o.Factors = 2*float64(y.Len())*float64(w.Dim(1)*w.Dim(2)*w.Dim(3)), w.DType()
	}
	return r.do(o, func() error { return r.backend.PatchEmbed(y, x, w, b) })
}
