package profile

import (
	"fmt"
	"slices"
	"time"

	"nmn/kernels/conv"
	"nmn/kernels/tensor"
)

// Op is one operation of a step.
type Op struct {
	Layer string // conv1_1, pool1, fc6, ...; all for the whole net
	Name  string // forward, data gradient, max pool, ...
	Shape string // of the operands that decide its size
	// FLOP counts the multiplications and additions of a convolution, including those with padding. It is 0
	// for operations limited by memory.
	FLOP float64
	// Factors is the type of the numbers that FLOP multiplies. It is float32 for the products of the noise model, also
	// in a step in bfloat16.
	Factors tensor.DType
	// Bytes counts every operand once for each time that it must be read or written.
	Bytes int
	// Algorithm describes how it is computed, if the backend reports it.
	Algorithm string
	// Times are the times in the steps recorded so far.
	Times []time.Duration

	explain func() string
}

// Median is the middle one of the times, rounded up to a measured one.
func (o *Op) Median() time.Duration {
	sorted := slices.Sorted(slices.Values(o.Times))
	return sorted[len(sorted)/2]
}

// same reports whether an operation repeats one of an earlier step.
func (o *Op) same(other *Op) bool {
	return o.Layer == other.Layer && o.Name == other.Name && o.Shape == other.Shape
}

// String names the operation for messages.
func (o *Op) String() string { return fmt.Sprintf("%s of %s, %s", o.Name, o.Layer, o.Shape) }

// convolution describes a pass of a convolution.
func (r *Recorder) convolution(layer string, pass conv.Pass, x, w, y *tensor.Tensor, p conv.Params,
	more ...*tensor.Tensor) Op {
	o := Op{Layer: layer, Name: pass.String(), Shape: shapeOf(x) + " * " + shapeOf(w),
		Bytes: bytesOf(append(more, x, w, y)...)}
	g, err := conv.Fit(o.Name, x, w, y, p)
	if err != nil {
		return o // the backend will report it
	}
	o.FLOP, o.Factors = 2*float64(g.N*g.P*g.Q)*float64(g.R*g.S*g.C)*float64(g.K), x.DType()
	if explainer, ok := r.backend.(conv.Explainer); ok {
		o.explain = func() string { return explainer.Algorithm(pass, g) }
	}
	return o
}

func shapeOf(t *tensor.Tensor) string {
	if t == nil {
		return "none"
	}
	return tensor.Format(t.Shape())
}

// bytesOf sums the sizes of tensors. Name a tensor twice if it is read and written.
func bytesOf(tensors ...*tensor.Tensor) (bytes int) {
	for _, t := range tensors {
		if t != nil {
			bytes += t.Bytes()
		}
	}
	return bytes
}
