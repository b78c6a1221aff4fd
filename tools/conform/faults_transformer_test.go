package conform

import (
	"math"
	"slices"

	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/kernels/transformer"
)

// swapped exchanges two of the parts of each row.
func swapped(x array, parts, first, second int) array {
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
	{"divides by one number less", "LayerNorm", "element", func(b kernels.Backend, y, x, gain, bias array,
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
	}},
	{"loses digits where the mean is large", "LayerNorm", "element", func(b kernels.Backend, y, x, gain, bias array,
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
	}},
	{"takes the approximation for exact", "GELU", "element", func(b kernels.Backend, y, x array,
		kind transformer.GELUKind) error {
		if kind == transformer.Exact {
			kind = transformer.Tanh
		}
		return b.GELU(y, x, kind)
	}},
	{"exchanges keys and values", "Attention", "norm", func(b kernels.Backend, y, qkv array, heads int) error {
		return b.Attention(y, swapped(qkv, 3, 1, 2), heads)
	}},
	{"one head for all", "Attention", "norm", func(b kernels.Backend, y, qkv array, heads int) error {
		if _, err := transformer.FitAttention(y, qkv, heads); err != nil {
			return err
		}
		return b.Attention(y, qkv, 1)
	}},
	{"exponentials without the largest taken off", "Attention", "NaN", func(b kernels.Backend, y, qkv array,
		heads int) error {
		err := b.Attention(y, qkv, heads)
		if err == nil {
			top := slices.Max(qkv.Float32s())
			y.Float32s()[0] += 0 * float32(math.Exp(float64(top*top)))
		}
		return err
	}},
	{"scales the residual too", "Linear", "norm", func(b kernels.Backend, y, x, w, bias array,
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
	}},
	{"activates after the scale", "Linear", "norm", func(b kernels.Backend, y, x, w, bias array,
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
	}},
	{"ignores the scale", "AddScaled", "element", func(b kernels.Backend, y, x, r, _ array) error {
		return b.AddScaled(y, x, r, nil)
	}},
	{"ignores the positions", "Tokens", "element", func(b kernels.Backend, y, patches, prefix, _ array) error {
		return b.Tokens(y, patches, prefix, nil)
	}},
	{"exchanges channels", "PatchEmbed", "norm", func(b kernels.Backend, y, x, w, bias array) error {
		if x.Rank() == 4 && x.Dim(3) == 3 {
			x = swapped(x, 3, 0, 2)
		}
		return b.PatchEmbed(y, x, w, bias)
	}},
}
