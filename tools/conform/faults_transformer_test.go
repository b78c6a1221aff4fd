package conform

import (
	"math"
	"slices"

	"nmn/kernels/tensor"
	"nmn/kernels/transformer"
)

// brokenTransformers are the replaced operations of package transformer.
type brokenTransformers struct {
	layerNorm func(b *referenceBackend, y, x, gain, bias *tensor.Tensor, eps float32) error
	gelu      func(b *referenceBackend, y, x *tensor.Tensor, kind transformer.GELUKind) error
	attention func(b *referenceBackend, y, qkv *tensor.Tensor, heads int) error
	linear    func(b *referenceBackend, y, x, w, bias *tensor.Tensor, p transformer.LinearParams) error
	addScaled func(b *referenceBackend, y, x, r, scale *tensor.Tensor) error
	tokens    func(b *referenceBackend, y, patches, prefix, position *tensor.Tensor) error
	patches   func(b *referenceBackend, y, x, w, bias *tensor.Tensor) error
}

func (b *broken) LayerNorm(y, x, gain, bias *tensor.Tensor, eps float32) error {
	return or(b.layerNorm, (*referenceBackend).LayerNorm)(b.referenceBackend, y, x, gain, bias, eps)
}

func (b *broken) GELU(y, x *tensor.Tensor, kind transformer.GELUKind) error {
	return or(b.gelu, (*referenceBackend).GELU)(b.referenceBackend, y, x, kind)
}

func (b *broken) Attention(y, qkv *tensor.Tensor, heads int) error {
	return or(b.attention, (*referenceBackend).Attention)(b.referenceBackend, y, qkv, heads)
}

func (b *broken) Linear(y, x, w, bias *tensor.Tensor, p transformer.LinearParams) error {
	return or(b.linear, (*referenceBackend).Linear)(b.referenceBackend, y, x, w, bias, p)
}

func (b *broken) AddScaled(y, x, r, scale *tensor.Tensor) error {
	return or(b.addScaled, (*referenceBackend).AddScaled)(b.referenceBackend, y, x, r, scale)
}

func (b *broken) Tokens(y, patches, prefix, position *tensor.Tensor) error {
	return or(b.tokens, (*referenceBackend).Tokens)(b.referenceBackend, y, patches, prefix, position)
}

func (b *broken) PatchEmbed(y, x, w, bias *tensor.Tensor) error {
	return or(b.patches, (*referenceBackend).PatchEmbed)(b.referenceBackend, y, x, w, bias)
}

// swapped exchanges two of the parts of each row.
func swapped(x *tensor.Tensor, parts, first, second int) *tensor.Tensor {
	list := slices.Clone(x.Float32s())
	if x.Rank() == 0 || x.Dim(-1)%parts != 0 {
		return x
	}
	width := x.Dim(-1) / parts
	for row := 0; row < len(list); row += parts * width {
		for i := range width {
			a, b := &list[row+first*width+i], &list[row+second*width+i]
			*a, *b = *b, *a
		}
	}
	return mustOf(list, x.Shape())
}

// transformerFaults are the faults of package transformer.
var transformerFaults = []fault{
	{"divides by one number less", "LayerNorm", "element",
		broken{brokenTransformers: brokenTransformers{layerNorm: func(b *referenceBackend, y, x, gain, bias *tensor.Tensor,
			eps float32) error {
			err := b.LayerNorm(y, x, gain, bias, eps)
			if err == nil {
				d := x.Dim(-1)
				for i := range y.Float32s() {
					shift := bias.Float32s()[i%d]
					y.Float32s()[i] = shift + (y.Float32s()[i]-shift)*float32(math.Sqrt(float64(d-1)/float64(d)))
				}
			}
			return err
		}}}},
	{"loses digits where the mean is large", "LayerNorm", "element",
		broken{brokenTransformers: brokenTransformers{layerNorm: func(b *referenceBackend, y, x, gain, bias *tensor.Tensor,
			eps float32) error {
			_, err := transformer.FitLayerNorm(y, x, gain, bias, eps)
			if err != nil {
				return err
			}
			d := x.Dim(-1)
			for row := 0; row < x.Len(); row += d {
				var sum, squares float32
				for _, v := range x.Float32s()[row : row+d] {
					sum += v
					squares += v * v
				}
				mean := sum / float32(d)
				inverse := 1 / math.Sqrt(math.Max(0, float64(squares/float32(d)-mean*mean))+float64(eps))
				for i := range d {
					y.Float32s()[row+i] = (x.Float32s()[row+i]-mean)*float32(inverse)*gain.Float32s()[i] + bias.Float32s()[i]
				}
			}
			return nil
		}}}},
	{"takes the approximation for exact", "GELU", "element",
		broken{brokenTransformers: brokenTransformers{gelu: func(b *referenceBackend, y, x *tensor.Tensor,
			kind transformer.GELUKind) error {
			if kind == transformer.Exact {
				kind = transformer.Tanh
			}
			return b.GELU(y, x, kind)
		}}}},
	{"exchanges keys and values", "Attention", "norm",
		broken{brokenTransformers: brokenTransformers{attention: func(b *referenceBackend, y, qkv *tensor.Tensor,
			heads int) error {
			return b.Attention(y, swapped(qkv, 3, 1, 2), heads)
		}}}},
	{"one head for all", "Attention", "norm", broken{brokenTransformers: brokenTransformers{
		attention: func(b *referenceBackend, y, qkv *tensor.Tensor, heads int) error {
			if _, err := transformer.FitAttention(y, qkv, heads); err != nil {
				return err
			}
			return b.Attention(y, qkv, 1)
		}}}},
	{"exponentials without the largest taken off", "Attention", "NaN",
		broken{brokenTransformers: brokenTransformers{attention: func(b *referenceBackend, y, qkv *tensor.Tensor,
			heads int) error {
			err := b.Attention(y, qkv, heads)
			if err == nil {
				top := slices.Max(qkv.Float32s())
				y.Float32s()[0] += 0 * float32(math.Exp(float64(top*top)))
			}
			return err
		}}}},
	{"scales the residual too", "Linear", "norm",
		broken{brokenTransformers: brokenTransformers{linear: func(b *referenceBackend, y, x, w, bias *tensor.Tensor,
			p transformer.LinearParams) error {
			if p.Residual == nil || p.Scale == nil || p.Scale.Len() != y.Dim(-1) {
				return b.Linear(y, x, w, bias, p)
			}
			residual := slices.Clone(p.Residual.Float32s())
			for i := range residual {
				residual[i] *= p.Scale.Float32s()[i%p.Scale.Len()]
			}
			if tensor.SameShape(p.Residual, y) {
				p.Residual = mustOf(residual, y.Shape())
			}
			return b.Linear(y, x, w, bias, p)
		}}}},
	{"activates after the scale", "Linear", "norm",
		broken{brokenTransformers: brokenTransformers{linear: func(b *referenceBackend, y, x, w, bias *tensor.Tensor,
			p transformer.LinearParams) error {
			if p.GELU == transformer.None || p.Residual == nil {
				return b.Linear(y, x, w, bias, p)
			}
			residual := mustOf(slices.Clone(p.Residual.Float32s()), p.Residual.Shape())
			if err := b.Linear(y, x, w, bias, transformer.LinearParams{Scale: p.Scale}); err != nil {
				return err
			}
			if err := b.GELU(y, y, p.GELU); err != nil {
				return err
			}
			return b.AddScaled(y, y, residual, nil)
		}}}},
	{"ignores the scale", "AddScaled", "element",
		broken{brokenTransformers: brokenTransformers{addScaled: func(b *referenceBackend, y, x, r, _ *tensor.Tensor) error {
			return b.AddScaled(y, x, r, nil)
		}}}},
	{"ignores the positions", "Tokens", "element",
		broken{brokenTransformers: brokenTransformers{tokens: func(b *referenceBackend, y, patches, prefix,
			_ *tensor.Tensor) error {
			return b.Tokens(y, patches, prefix, nil)
		}}}},
	{"exchanges channels", "PatchEmbed", "norm",
		broken{brokenTransformers: brokenTransformers{patches: func(b *referenceBackend, y, x, w, bias *tensor.Tensor) error {
			if x.Rank() == 4 && x.Dim(3) == 3 {
				x = swapped(x, 3, 0, 2)
			}
			return b.PatchEmbed(y, x, w, bias)
		}}}},
}
