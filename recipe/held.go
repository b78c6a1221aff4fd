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
// is taken as it is, and an unknown label is not learned.
func (r *Recipe) beliefs() *dense.Dense {
	z, q := r.data.Train.Labels.Uint8s(), r.found.TrainingRates()
	k := len(q.Q01)
	rho := make([]float32, len(z))
	for i := range rho {
		c := i % k
		if z[i] == loader.UnknownLabel {
			rho[i] = loader.Unknown
			continue
		}
		rho[i] = float32(z[i])
		if !math.IsNaN(q.Q01[c]) {
			o := float64(r.noisy.logits[i])
			belief := rates.Posterior(o, z[i], q.Q01[c], q.Q10[c])
			if r.settings.Recipe.Floor {
				belief = (belief + rates.Sigmoid(o)) / 2
			}
			rho[i] = float32(belief)
		}
	}
	return dense.New(dense.WithShape(len(z)/k, k), dense.WithBacking(rho))
}

// pruned returns the labels as targets. Labels that the out-of-fold audit finds wrong, with a posterior beyond
// one half, are unknown.
func (r *Recipe) pruned() *dense.Dense {
	z, n := r.data.Train.Labels.Uint8s(), r.held(r.settings.Train).Noise
	k, out := len(n.Q01), make([]float32, len(z))
	for i := range out {
		c := i % k
		if z[i] == loader.UnknownLabel {
			out[i] = loader.Unknown
			continue
		}
		out[i] = float32(z[i])
		rho := rates.Posterior(float64(r.noisy.logits[i]), z[i], float64(n.Q01[c]), float64(n.Q10[c]))
		if z[i] == 1 && rho < .5 || z[i] == 0 && rho > .5 {
			out[i] = loader.Unknown
		}
	}
	return dense.New(dense.WithShape(len(z)/k, k), dense.WithBacking(out))
}
