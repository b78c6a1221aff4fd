package profile

import (
	"nmn/kernels/tensor"
	"nmn/kernels/transformer"
)

// LayerNorm implements transformer.Ops.
func (r *Recorder) LayerNorm(y, x, gain, bias *tensor.Tensor, eps float32) error {
	layer := r.layer(gain)
	r.names[y] = layer
	o := Op{Layer: layer, Name: "layer norm", Shape: shapeOf(x), Bytes: bytesOf(y, x, gain, bias)}
	return r.do(o, func() error { return r.backend.LayerNorm(y, x, gain, bias, eps) })
}

// GELU implements transformer.Ops.
func (r *Recorder) GELU(y, x *tensor.Tensor, kind transformer.GELUKind) error {
	o := Op{Layer: r.layer(x), Name: "gelu", Shape: shapeOf(x), Bytes: bytesOf(y, x)}
	return r.do(o, func() error { return r.backend.GELU(y, x, kind) })
}

// Attention implements transformer.Ops. It counts the arithmetic of the two products.
func (r *Recorder) Attention(y, qkv *tensor.Tensor, heads int) error {
	layer := r.layer(qkv)
	r.names[y] = layer
	o := Op{Layer: layer, Name: "attention", Shape: shapeOf(qkv), Bytes: bytesOf(y, qkv)}
	if y != nil && y.Rank() == 3 {
		o.FLOP, o.Factors = 4*float64(y.Len())*float64(y.Dim(1)), y.DType()
	}
	return r.do(o, func() error { return r.backend.Attention(y, qkv, heads) })
}

// Linear implements transformer.Ops.
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

// PrepareLinear implements transformer.Ops.
func (r *Recorder) PrepareLinear(w *tensor.Tensor) error {
	o := Op{Layer: r.layer(w), Name: "prepare", Shape: shapeOf(w), Bytes: bytesOf(w, w)}
	return r.do(o, func() error { return r.backend.PrepareLinear(w) })
}

// AddScaled implements transformer.Ops.
func (r *Recorder) AddScaled(y, x, residual, scale *tensor.Tensor) error {
	o := Op{Layer: r.layer(x), Name: "scaled sum", Shape: shapeOf(x), Bytes: bytesOf(y, x, residual, scale)}
	return r.do(o, func() error { return r.backend.AddScaled(y, x, residual, scale) })
}

// Tokens implements transformer.Ops.
func (r *Recorder) Tokens(y, patches, prefix, position *tensor.Tensor) error {
	layer := r.layer(patches)
	r.names[y] = layer
	o := Op{Layer: layer, Name: "tokens", Shape: shapeOf(y), Bytes: bytesOf(y, patches, prefix, position)}
	return r.do(o, func() error { return r.backend.Tokens(y, patches, prefix, position) })
}

// PatchEmbed implements transformer.Ops.
func (r *Recorder) PatchEmbed(y, x, w, b *tensor.Tensor) error {
	layer := r.layer(w)
	r.names[y] = layer
	o := Op{Layer: layer, Name: "patch embedding", Shape: shapeOf(x) + " * " + shapeOf(w), Bytes: bytesOf(y, x, w, b)}
	if y != nil && y.Rank() > 0 && w != nil && w.Rank() == 4 {
		o.FLOP, o.Factors = 2*float64(y.Len())*float64(w.Dim(1)*w.Dim(2)*w.Dim(3)), w.DType()
	}
	return r.do(o, func() error { return r.backend.PatchEmbed(y, x, w, b) })
}
