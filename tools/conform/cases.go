package conform

import (
	"nmn/kernels"
	"nmn/kernels/tensor"
)

// Cases lists all cases, operation by operation. Every method of kernels.Backend other than the device's own
// has some. Operations that a card computes by this project's kernels alone come first. The others choose
// plans of convolutions or products before, which takes longer than all of the rest.
func Cases() []Case {
	var list []Case
	for _, family := range []func() []Case{
		activationCases, poolCases, bagCases, noiseCases, exclusiveCases, largeLossCases, updateCases,
		pixelCases, embedCases,
		transformerCases, lstmCases, entropyCases, convCases,
	} {
		list = append(list, family()...)
	}
	return list
}

// refusal is a call of an operation that must give ErrShape, on the tensors of its operands in their order.
type refusal = func(k kernels.Backend, t []*tensor.Tensor) error

// refuse makes a case of a refusal.
func refuse(op, name string, run refusal, operands ...*operand) Case {
	return Case{Op: op, Name: "refuse=" + name, Refuse: true, build: func(*values) *call {
		return &call{operands: operands, run: func(k kernels.Backend) error {
			tensors := make([]*tensor.Tensor, len(operands))
			for i, o := range operands {
				tensors[i] = o.t
			}
			return run(k, tensors)
		}}
	}}
}

// refuseShapes makes a case of each operand whose shape does not fit the others. The operands are zeros.
func refuseShapes(op string, good, wrong []namedShape, run refusal) []Case {
	var list []Case
	for _, w := range wrong {
		operands := make([]*operand, len(good))
		for i, g := range good {
			if g.name == w.name {
				g = w
			}
			operands[i] = blank(g.shape...)
		}
		list = append(list, refuse(op, w.name+"_"+dimensions(w.shape), run, operands...))
	}
	return list
}

// namedShape is the shape of an operand.
type namedShape struct {
	name  string
	shape []int
}

// none is an operand that a call does without: its tensor is nil.
func none() *operand { return &operand{} }

// blank is an input of zeros, for calls that are refused.
func blank(shape ...int) *operand {
	n, _ := tensor.Elements(shape)
	return input("blank", make([]float32, n), shape...)
}
