package train

import (
	"context"
	"fmt"
	"math"

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
		logits := values[0]
		row := 0
		next := func() error {
			scores := logits[row*k : (row+1)*k]
			for c, o := range scores {
				if math.IsNaN(float64(o)) {
					return fmt.Errorf("training: the logit of sample %s, class %d is NaN: the weights are damaged",
						batch.IDs[row], c)
				}
			}
			visit(batch.Index[row], scores, q01, q10)
			row++
			return nil
		}
		var err error
		switch {
		case net.Config().Noise == model.FeatureDependent:
			reading := bagRates(values[1], k, func(miss, wrong []float32) {
				if q01, q10 = miss, wrong; err == nil {
					err = next()
				}
			})
			return joined(err, reading)
		case net.HasRates() && q01 == nil:
			err = bagRates(values[1], k, func(miss, wrong []float32) { q01, q10 = miss, wrong })
		}
		for err == nil && row < batch.N {
			err = next()
		}
		return err
	})
	return gatherBad(g, set, config, bags, bad, err)
}
