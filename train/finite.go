package train

import (
	"io"
	"math"

	"nmn/format/safetensors"
)

// finiteTensors are tensors whose writing fails with a *NonFiniteError where a float32 of them is not finite.
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

// NonFinite is the error of a step whose loss or gradient is not finite, or whose gradient is so large that its
// squares, which Adam keeps, would not be; nil where all are. The norm is that of the gradient before clipping.
func (o *Optimizer) NonFinite(p *Progress) *NonFiniteError {
	squares := o.config.Optimizer != SGD && o.config.ClipNorm == 0
	if squares && p.GradNorm > mostGradient {
		return p.broken()
	}
	return p.NonFinite()
}
