package conform

import "nmn/kernels/tensor"

// Cases lists all cases, operation by operation. Every method of kernels.Backend other than the device's own
// has some. Operations that a card computes by this project's kernels alone come first. The others choose
// plans of convolutions or products before, which takes longer than all of the rest.
func Cases() []Case {
	var list []Case
	for _, family := range []func() []Case{
		activationCases, poolCases, bagCases, noiseCases, exclusiveCases, likelihoodCases, largeLossCases, updateCases,
		pixelCases, embedCases,
		transformerCases, lstmCases, entropyCases, convCases,
	} {
		list = append(list, family()...)
	}
	return list
}

// refuse makes a case of a call that must give ErrShape.
func refuse(op, name string, build func(*values) *call) Case {
	return Case{Op: op, Name: "refuse=" + name, Refuse: true, build: build}
}

// wrongShape is the shape of one operand that does not fit the others.
type wrongShape struct {
	name  string
	shape []int
}

// blank is an input of zeros, for calls that are refused.
func blank(shape ...int) *operand {
	n, _ := tensor.Elements(shape)
	return input("blank", make([]float32, n), shape...)
}
