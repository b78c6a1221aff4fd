package recipe

import (
	"math"

	dense "gorgonia.org/tensor"

	"nmn/labels/rates"
	"nmn/loader"
	"nmn/train"
)

// hold has a net learn through these rates, without a part that depends on the bag.
func hold(c *train.NoiseConfig, q01, q10 []float32) {
	c.Q01, c.Q10, c.Deviation, c.Frozen = q01, q10, 0, true
}

// leastRate is the least rate that is held, and 1-leastRate the greatest: no noise model is certain of a label.
const leastRate = 1e-4

// held sets the noise model to the rates that were found, with U = 0, and holds it. A class whose rates
// are not to be believed has none: no noise is invented.
func (r *Recipe) held(c train.Config) train.Config {
	if r.classes != nil {
		c.Noise.Transition, c.Noise.Frozen = r.transition(), true
		return c
	}
	q := r.found.TrainingRates()
	hold(&c.Noise, heldRates(q.Q01), heldRates(q.Q10))
	return c
}

func heldRates(q []float64) []float32 {
	out := make([]float32, len(q))
	for c, v := range q {
		if math.IsNaN(v) {
			v = 0
		}
		out[c] = float32(min(max(v, leastRate), 1-leastRate))
	}
	return out
}

// beliefs returns the posterior rho = p(y=1|z,o) of every label. With raised rates it returns the mean of rho
// and p(y=1|o), so that the net does not memorise what is wrong in rho. A label whose class has no known noise
// is taken as it is.
func (r *Recipe) beliefs() *dense.Dense {
	q := r.found.TrainingRates()
	return r.targets(func(i, c int, z uint8) float32 {
		if math.IsNaN(q.Q01[c]) {
			return float32(z)
		}
		o := float64(r.noisy.logits[i])
		belief := rates.Posterior(o, z, q.Q01[c], q.Q10[c])
		if r.Settings.Recipe.Floor {
			belief = (belief + rates.Sigmoid(o)) / 2
		}
		return float32(belief)
	})
}

// pruned returns the labels as targets. Labels that the out-of-fold audit finds wrong, with a posterior beyond
// one half, are unknown.
func (r *Recipe) pruned() *dense.Dense {
	n := r.held(r.Settings.Train).Noise
	return r.targets(func(i, c int, z uint8) float32 {
		rho := rates.Posterior(float64(r.noisy.logits[i]), z, float64(n.Q01[c]), float64(n.Q10[c]))
		if z == 1 && rho < .5 || z == 0 && rho > .5 {
			return loader.Unknown
		}
		return float32(z)
	})
}

// targets replaces each label i, of a class c. An unknown one is not learned.
func (r *Recipe) targets(of func(i, c int, z uint8) float32) *dense.Dense {
	labels, k := r.Data.Train.Labels.Uint8s(), r.Data.Train.Labels.Shape()[1]
	out := make([]float32, len(labels))
	for i, z := range labels {
		if out[i] = loader.Unknown; z != loader.UnknownLabel {
			out[i] = of(i, i%k, z)
		}
	}
	return dense.New(dense.WithShape(len(labels)/k, k), dense.WithBacking(out))
}
