package train

import (
	"io"
	"math"

	"nmn/format/safetensors"
)

// finiteTensors wraps tensors so that writing one with a non-finite float32 fails with a *NonFiniteError.
func finiteTensors(tensors []safetensors.Tensor) []safetensors.Tensor {
	checked := make([]safetensors.Tensor, len(tensors))
	for i, t := range tensors {
		checked[i] = t
		if _, ok := t.Data.([]float32); ok {
			checked[i].DType = safetensors.F32
		}
		if checked[i].DType == safetensors.F32 {
			checked[i].Data = func(w io.Writer) error { return t.WriteData(&finiteWriter{to: w, name: t.Name}) }
		}
	}
	return checked
}

// finiteWriter passes little-endian float32 on while they are finite. It is given whole numbers.
type finiteWriter struct {
	to   io.Writer
	name string
}

// Write looks at the exponent of each number, whose eight bits are all 1 in infinities and NaN.
func (f *finiteWriter) Write(b []byte) (int, error) {
	for i := 3; i < len(b); i += 4 {
		if b[i]&0x7f == 0x7f && b[i-1]&0x80 != 0 {
			return 0, &NonFiniteError{Tensor: f.name}
		}
	}
	return f.to.Write(b)
}

// mostGradient is the largest norm of a gradient whose square is finite in float32, in which moments are kept.
var mostGradient = math.Sqrt(math.MaxFloat32)

// NonFinite returns an error if the loss or the gradient of a step is not finite, or if the squares of the
// gradient, which Adam keeps, would overflow. Otherwise it returns nil. The norm is the norm of the gradient
// before clipping.
func (o *Optimizer) NonFinite(p *Progress) *NonFiniteError {
	squares := o.config.Optimizer != SGD && o.config.ClipNorm == 0
	if finite(p.Loss) && finite(p.GradNorm) && !(squares && p.GradNorm > mostGradient) {
		return nil
	}
	return &NonFiniteError{Epoch: p.Epoch, Step: p.Step, LearningRate: p.LearningRate, Loss: p.Loss,
		GradientNorm: p.GradNorm}
}
