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

	recorder kernels.Capturer // nil where steps are not recorded
	bagsIn   *tensor.Tensor   // the bags of an accumulated step, a float32 on the device
	scalar   *dense.Dense     // and on the host
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
	o.recorder = recorderOf(net.Backend())
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
	o.bagsIn = alloc(1)
	for _, p := range o.params {
		e := update.Entry{W: p.W, G: p.G, Copy: p.Copy, M: alloc(p.W.Shape()...)}
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

// begin sets what the step's update depends on: the learning rate, and the number of bags. On a device
// that records steps it is uploaded here, for neither may change within recorded work.
func (o *optimizer) begin(rate float64, bags int) error {
	for i := range o.entries {
		o.entries[i].LR = float32(rate * o.factors[i])
	}
	if o.config.Accumulate > 1 {
		o.scalar.Float32s()[0] = float32(bags)
		if err := o.backend.Upload(o.bagsIn, o.scalar); err != nil {
			return err
		}
	}
	if o.recorder == nil {
		return nil
	}
	return o.recorder.PrepareUpdate(o.entries, o.adam())
}

// resting tells whether a parameter that learns has a rate of 0 in this step, as schedules may end: the
// update leaves it out, and so has another shape.
func (o *optimizer) resting() bool {
	for i := range o.entries {
		if o.entries[i].LR == 0 {
			return true
		}
	}
	return false
}

// measure makes the gradients the mean over the bags of the step and writes their Euclidean norm, which is
// not finite when any of them is not. Gradients that were summed over several batches are divided by the
// number of their bags: clipped to a norm of 1 from a norm of bags.
func (o *optimizer) measure(norm *tensor.Tensor) error {
	if o.config.Accumulate > 1 {
		if err := o.backend.Clip(o.entries, o.bagsIn, 1); err != nil {
			return err
		}
	}
	return o.backend.GradNorm(norm, o.entries)
}

// update clips the gradients that measure has seen, and changes the parameters.
func (o *optimizer) update(norm *tensor.Tensor) error {
	if o.config.ClipNorm > 0 {
		if err := o.backend.Clip(o.entries, norm, float32(o.config.ClipNorm)); err != nil {
			return err
		}
	}
	if o.config.Optimizer == SGD {
		return o.backend.SGD(o.entries, float32(o.config.Momentum))
	}
	return o.backend.Adam(o.entries, o.adam())
}

// adam is the constants of the next update; the zero value for SGD.
func (o *optimizer) adam() update.AdamParams {
	if o.config.Optimizer == SGD {
		return update.AdamParams{}
	}
	return update.AdamParams{Beta1: float32(o.config.Beta1), Beta2: float32(o.config.Beta2),
		Epsilon: float32(o.config.Epsilon), Step: o.updates + 1}
}

func (o *optimizer) bytes() int { return o.state.Bytes() }

func (o *optimizer) close() error { return o.state.Close() }
