package train

import (
	"context"

	"nmn/kernels/tensor"
	"nmn/loader"
	"nmn/model"
	"nmn/ranks"
)

// EachScore runs a net over a set in order, as Score does. It visits the logits of p(y=1|I) of each readable
// bag, with q01 and q10 of each class from the noise model for this bag. Without a noise model these are nil.
// The slices are valid until visit returns. Each rank of g, nil for this process alone, visits a part of the
// set. The parts follow one another in the order of the ranks. EachScore returns the bags that could not be
// read.
func EachScore(ctx context.Context, g ranks.Group, net *model.Net, set *loader.Set, config loader.Config,
	visit func(bag int, logits, q01, q10 []float32)) ([]loader.BadSample, error) {
	g = ranks.Of(g)
	k := net.Config().Classes
	var q01, q10 []float32
	var list []*tensor.Tensor
	outputs := func(p *model.Plan) ([]*tensor.Tensor, error) {
		if list = append(list[:0], p.BagLogit); net.HasRates() {
			list = append(list, p.Confidence)
		}
		return list, nil
	}
	bags, bad, err := inOrder(ctx, net, set, wholeBatches(g, config), outputs, func(batch *loader.Batch,
		values [][]float32) error {
		logits, row := values[0], 0
		if err := checkLogits(batch, logits, k); err != nil {
			return err
		}
		next := func() {
			visit(batch.Index[row], logits[row*k:(row+1)*k], q01, q10)
			row++
		}
		if net.Config().Noise == model.FeatureDependent {
			return bagRates(values[1], k, func(miss, wrong []float32) {
				q01, q10 = miss, wrong
				next()
			})
		}
		if net.HasRates() && q01 == nil {
			if err := bagRates(values[1], k, func(miss, wrong []float32) { q01, q10 = miss, wrong }); err != nil {
				return err
			}
		}
		for row < batch.N {
			next()
		}
		return nil
	})
	return gatherBad(g, set, config, bags, bad, err)
}
