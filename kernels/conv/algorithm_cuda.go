//go:build cuda

package conv

import "nmn/cuda/cudnn"

var _ Explainer = (*CUDA)(nil)

// Algorithm implements Explainer. It names the cuDNN engine chosen for the shape and the precision, the
// lowest one if there were several, or the kernel that replaces it.
func (c *CUDA) Algorithm(pass Pass, g Geometry) string {
	shape := shapeOf(g)
	if frames, err := c.frames(shape); err == nil {
		shape.N = frames
	}
	for _, as := range [...]struct {
		cudnn.Precision
		wide bool
	}{{cudnn.BFloat16, true}, {cudnn.BFloat16, false}, {cudnn.TF32, false}, {cudnn.Float32, false}} {
		shape.Precision, shape.Wide = as.Precision, as.wide
		if pass == FilterGradient && c.narrow[shape] { // it was only tried
			continue
		}
		for _, p := range passesOf[pass] {
			of, how := shape, ""
			switch product, columns := c.columnsOf(shape); {
			case c.forms[question{pass: p, conv: shape}] == own:
				return "first_conv bf16"
			case p == cudnn.DataGradient && columns:
				of, how = product, " "+columnsKernel
			case c.tried(p, &of):
				continue
			}
			choice, known := c.cudnn.Chosen(p, of)
			if choice.Kernel == columnsKernel {
				product, _ := c.unfoldedOf(of)
				choice, known = c.cudnn.Chosen(p, product)
				how = " " + columnsKernel
			}
			if known {
				return choice.String() + " " + of.Precision.String() + how
			}
		}
	}
	return ""
}

// passesOf are the passes of cuDNN that may compute an operation, the most fused first.
var passesOf = map[Pass][]cudnn.Pass{
	Forward:        {cudnn.ForwardBiasReLU, cudnn.ForwardBias, cudnn.Forward},
	DataGradient:   {cudnn.MaskedDataGradient, cudnn.DataGradient},
	FilterGradient: {cudnn.FilterGradient},
}

// tried reports whether a pass was only measured because another form was faster. The shape becomes that
// form's shape.
func (c *CUDA) tried(pass cudnn.Pass, shape *cudnn.Conv) bool {
	for _, bias := range []bool{true, false} {
		switch f, known := c.forms[question{pass, *shape, bias}]; {
		case known && f == apart:
			return true
		case known && f == rounded:
			shape.NarrowBias = true
			return false
		}
	}
	return false
}
