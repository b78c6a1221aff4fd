package train

import (
	"fmt"

	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/kernels/update"
	"nmn/model"

	dense "gorgonia.org/tensor"
)

// optimizer holds the state of SGD or Adam beside the parameters that learn.
type optimizer struct {
	config  Config
	backend kernels.Backend
	state   *tensor.Arena
	params  []*model.Param // that learn, in the net's order
	factors []float64      // learning-rate multipliers of params
	entries []update.Entry
	updates int // since the state was fresh: the exponent of Adam's bias correction

	normOut, bagsIn *tensor.Tensor // scalars on the device
	scalar          *dense.Dense   // and their host side
}

// newOptimizer freezes what does not learn and makes fresh state for the rest.
func newOptimizer(net *model.Net, c Config) (*optimizer, error) {
	factors, err := multipliers(c, net.Params())
	if err != nil {
		return nil, err
	}
	if err := net.Freeze(func(p *model.Param) bool { return factors[p] == 0 }); err != nil {
		return nil, err
	}
	o := &optimizer{config: c, backend: net.Backend(), state: tensor.NewArena(net.Backend()), scalar: model.Host(1)}
	for _, p := range net.Params() {
		if p.Frozen {
			continue
		}
		o.params, o.factors = append(o.params, p), append(o.factors, factors[p])
	}
	if len(o.params) == 0 {
		return nil, fmt.Errorf("training: every parameter is frozen: nothing is left to learn")
	}
	if err := o.allocate(); err != nil {
		return nil, fmt.Errorf("training: cannot hold the state of %s: %w", c.Optimizer, joined(err, o.close()))
	}
	return o, nil
}

func (o *optimizer) allocate() error {
	var err error
	alloc := func(shape ...int) *tensor.Tensor {
		if err != nil {
			return nil
		}
		var t *tensor.Tensor
		t, err = o.state.Alloc(tensor.Float32, shape...)
		return t
	}
	o.normOut, o.bagsIn = alloc(1), alloc(1)
	for _, p := range o.params {
		e := update.Entry{W: p.W, G: p.G, M: alloc(p.W.Shape()...)}
		if o.config.Optimizer == Adam {
			e.V = alloc(p.W.Shape()...)
		}
		if o.config.DecayBiases || !p.Bias {
			e.Decay = float32(o.config.WeightDecay)
		}
		o.entries = append(o.entries, e)
	}
	return err
}

// scale is what the gradients of a batch are multiplied with: 1/bags for their mean, and 1 where they are
// summed over several batches whose bags are not counted yet.
func (o *optimizer) scale(bags int) float32 {
	if o.config.Accumulate > 1 {
		return 1
	}
	return 1 / float32(bags)
}

// prepare sets the learning rate, makes the gradients the mean over the bags of the step, and returns
// their Euclidean norm, which is not finite when any of them is not.
func (o *optimizer) prepare(rate float64, bags int) (norm float64, err error) {
	for i := range o.entries {
		o.entries[i].LR = float32(rate * o.factors[i])
	}
	if o.config.Accumulate > 1 {
		if err := o.average(bags); err != nil {
			return 0, err
		}
	}
	if err := o.backend.GradNorm(o.normOut, o.entries); err != nil {
		return 0, err
	}
	if err := o.backend.Download(o.scalar, o.normOut); err != nil {
		return 0, err
	}
	return float64(o.scalar.Float32s()[0]), nil
}

// average divides gradients that were summed over several batches by the number of their bags: Clip
// to a norm of 1 from a norm of bags.
func (o *optimizer) average(bags int) error {
	if bags <= 1 {
		return nil
	}
	o.scalar.Float32s()[0] = float32(bags)
	if err := o.backend.Upload(o.bagsIn, o.scalar); err != nil {
		return err
	}
	return o.backend.Clip(o.entries, o.bagsIn, 1)
}

// update clips the gradients that prepare has measured, and changes the parameters.
func (o *optimizer) update() error {
	if o.config.ClipNorm > 0 {
		if err := o.backend.Clip(o.entries, o.normOut, float32(o.config.ClipNorm)); err != nil {
			return err
		}
	}
	o.updates++
	if o.config.Optimizer == SGD {
		return o.backend.SGD(o.entries, float32(o.config.Momentum))
	}
	return o.backend.Adam(o.entries, update.AdamParams{Beta1: float32(o.config.Beta1), Beta2: float32(o.config.Beta2),
		Epsilon: float32(o.config.Epsilon), Step: o.updates})
}

func (o *optimizer) bytes() int { return o.state.Bytes() }

func (o *optimizer) close() error { return o.state.Close() }
