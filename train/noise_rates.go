package train

import (
	"errors"
	"fmt"

	"nmn/model"
)

// ErrNoNoiseModel means that a net has no noise model to ask for rates.
var ErrNoNoiseModel = errors.New("the net has no noise model")

// NoiseRates are q01 and q10 of each class of a feature-independent noise model: the softmax of b over
// the observed label.
func NoiseRates(net *model.Net) (q01, q10 []float32, err error) {
	if mode := net.Config().Noise; mode != model.FeatureIndependent || !net.HasRates() {
		return nil, nil, fmt.Errorf("training: rates that are the same for all samples, of the noise model %q: %w",
			mode, ErrNoNoiseModel)
	}
	plan, err := net.Plan(1, 1, false)
	if err != nil {
		return nil, nil, err
	}
	values := make([]float32, plan.Confidence.Len())
	if err := net.Backend().Download(hostOver(values), plan.Confidence); err != nil {
		return nil, nil, err
	}
	err = bagRates(values, net.Config().Classes, func(miss, wrong []float32) { q01, q10 = miss, wrong })
	return q01, q10, err
}

// bagRates visits the noise rates in each row of the transition probabilities of k classes. There is a row
// for each bag, or a single row for a feature-independent noise model.
func bagRates(confidence []float32, k int, visit func(q01, q10 []float32)) error {
	q01, q10 := make([]float32, k), make([]float32, k)
	for values := confidence; len(values) > 0; values = values[4*k:] {
		model.NoiseRates(q01, q10, values[:4*k])
		for c := range k {
			if q01[c] != q01[c] || q10[c] != q10[c] {
				return fmt.Errorf("training: the noise rates of class %d are NaN: the weights are damaged", c)
			}
		}
		visit(q01, q10)
	}
	return nil
}
