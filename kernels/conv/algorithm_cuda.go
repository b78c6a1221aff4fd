//go:build cuda

package conv

import "nmn/cuda/cudnn"

var _ Explainer = (*CUDA)(nil)

// Algorithm implements Explainer: the engine of cuDNN that was chosen for the shape and the precision,
// the lowest one where it was run in several.
func (c *CUDA) Algorithm(pass Pass, g Geometry) string {
	shape := cudnn.Conv{N: g.N, H: g.H, W: g.W, C: g.C, K: g.K, R: g.R, S: g.S, Pad: g.Pad}
	passes := map[Pass][]cudnn.Pass{
		Forward:        {cudnn.ForwardBiasReLU, cudnn.ForwardBias, cudnn.Forward},
		DataGradient:   {cudnn.DataGradient},
		FilterGradient: {cudnn.FilterGradient},
	}[pass]
	for _, as := range [...]struct {
		cudnn.Precision
		wide bool
	}{{cudnn.BFloat16, true}, {cudnn.BFloat16, false}, {cudnn.TF32, false}, {cudnn.Float32, false}} {
		shape.Precision, shape.Wide = as.Precision, as.wide
		if pass == FilterGradient && c.narrow[shape] { // it was only tried
			continue
		}
		for _, p := range passes {
			if choice, known := c.cudnn.Chosen(p, shape); known {
				return choice.String() + " " + shape.Precision.String()
			}
		}
	}
	return ""
}
