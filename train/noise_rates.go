package train

import (
	"context"
	"errors"
	"fmt"

	"nmn/kernels/tensor"
	"nmn/loader"
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

// EachNoiseRates runs a net with a feature-dependent noise model over a set in order, as Score does, and
// visits q01 and q10 of each class for each bag of the set that can be read. The slices hold until visit
// returns. It returns the bags that could not be read.
func EachNoiseRates(ctx context.Context, net *model.Net, set *loader.Set, config loader.Config,
	visit func(bag int, q01, q10 []float32)) ([]loader.BadSample, error) {
	if mode := net.Config().Noise; mode != model.FeatureDependent {
		return nil, fmt.Errorf("training: rates of each sample, of the noise model %q: %w", mode, ErrNoNoiseModel)
	}
	confidence := func(p *model.Plan) ([]*tensor.Tensor, error) { return []*tensor.Tensor{p.Confidence}, nil }
	return wholeSet(ctx, net, set, config, confidence, func(batch *loader.Batch, values [][]float32) error {
		row := 0
		return bagRates(values[0], net.Config().Classes, func(q01, q10 []float32) {
			visit(batch.Index[row], q01, q10)
			row++
		})
	})
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
