package train

import (
	"errors"
	"fmt"
	"slices"

	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/kernels/update"
	"nmn/model"
	"nmn/model/param"

	dense "gorgonia.org/tensor"
)

// OptimizerConfig configures an Optimizer.
type OptimizerConfig struct {
	UpdateConfig
	// WeightDecay is coupled (L2): it adds wd·w to the gradient. For adamw it is decoupled. Biases do not
	// decay unless DecayBiases is set.
	WeightDecay float64
	DecayBiases bool
	// ClipNorm limits the Euclidean norm of the gradient of all parameters together; 0 for no limit.
	ClipNorm float64
	// Accumulate is the number of batches whose gradients are summed before they make one step; 0 is 1.
	Accumulate int
	// Average is the decay of the moving averages of the parameters; 0 for none.
	Average float64
}

// Optimizer holds the state of SGD, Adam or AdamW for the parameters that learn, of a classifier or a
// captioner. It serves one goroutine. A step is [Optimizer.Begin], [Optimizer.Measure],
// [Optimizer.Update] and [Optimizer.End]. Measure and Update enqueue work that can be recorded.
type Optimizer struct {
	config  OptimizerConfig
	backend kernels.Backend
	state   *tensor.Arena
	params  []*param.Param
	factors []float64 // learning-rate multipliers of params
	entries []update.Entry
	// averaged are the entries with a rate of 1: averages are exchanged whatever the rate of a step.
	averaged      []update.Entry
	averagesShown bool // the net has the averages of its weights
	updates       int  // since the state was fresh: the exponent of Adam's bias correction

	recorder kernels.Card   // nil if steps are not recorded
	scalar   *tensor.Tensor // a float32 on the device: the bags of an accumulated step, or the norm
	host     *dense.Dense   // and on the host
}

// NewOptimizer makes fresh state for parameters that have gradients. multipliers of the learning rate are one
// for each parameter, or nil for 1. Close gives the memory back.
func NewOptimizer(backend kernels.Backend, params []*param.Param, multipliers []float64,
	c OptimizerConfig) (*Optimizer, error) {
	if len(params) == 0 {
		return nil, fmt.Errorf("training: every parameter is frozen: nothing is left to learn")
	}
	o := &Optimizer{
		config:  c,
		backend: backend,
		state:   tensor.NewArena(backend),
		params:  params,
		factors: multipliers,
		host:    model.Host(1),
	}
	if card, ok := backend.(kernels.Card); ok && card.Captures() {
		o.recorder = card
	}
	if err := o.allocate(); err != nil {
		return nil, fmt.Errorf("training: cannot hold the state of %s: %w", c.Optimizer, errors.Join(err, o.Close()))
	}
	return o, nil
}

// optimizerOf freezes the parameters of a net that do not learn, and makes fresh state for the rest.
func optimizerOf(net *model.Net, c Config) (*Optimizer, error) {
	factors, err := multipliers(c, net.Params())
	if err != nil {
		return nil, err
	}
	if err := net.Freeze(func(p *model.Param) bool { return factors[p] == 0 }); err != nil {
		return nil, err
	}
	var params []*model.Param
	var rates []float64
	for _, p := range net.Params() {
		if !p.Frozen {
			params, rates = append(params, p), append(rates, factors[p])
		}
	}
	return NewOptimizer(net.Backend(), params, rates, c.optimizer())
}

func (o *Optimizer) allocate() error {
	var err error
	alloc := func(shape ...int) *tensor.Tensor {
		if err != nil {
			return nil
		}
		var t *tensor.Tensor
		t, err = o.state.Alloc(tensor.Float32, shape...)
		return t
	}
	o.scalar = alloc(1)
	for _, p := range o.params {
		e := update.Entry{W: p.W, G: p.G, Copy: p.Copy, M: alloc(p.W.Shape()...)}
		if o.config.Optimizer != SGD {
			e.V = alloc(p.W.Shape()...)
		}
		if o.config.DecayBiases || !p.Bias {
			e.Decay = float32(o.config.WeightDecay)
		}
		if o.config.Average > 0 {
			e.Average = alloc(p.W.Shape()...)
		}
		o.entries = append(o.entries, e)
	}
	if err != nil || o.config.Average == 0 {
		return err
	}
	o.averaged = slices.Clone(o.entries)
	for i := range o.averaged {
		o.averaged[i].LR = 1
	}
	return o.startAverages()
}

// scale is the factor on the gradients of a batch: 1/bags for their mean, and 1 if they are summed over
// several batches whose bags are not counted yet.
func (o *Optimizer) scale(bags int) float32 {
	if o.config.Accumulate > 1 {
		return 1
	}
	return 1 / float32(bags)
}

// Begin sets the inputs of the step's update: the learning rate and the number of bags. A device that records
// steps gets them by an upload here, because neither may change within recorded work. Begin reports whether the
// update has the usual shape. An update in which a parameter rests, at a rate of 0, must neither be recorded nor
// replayed.
func (o *Optimizer) Begin(rate float64, bags int) (usual bool, err error) {
	usual = true
	for i := range o.entries {
		factor := 1.0
		if o.factors != nil {
			factor = o.factors[i]
		}
		o.entries[i].LR = float32(rate * factor)
		usual = usual && o.entries[i].LR != 0
	}
	if o.config.Accumulate > 1 {
		o.host.Float32s()[0] = float32(bags)
		if err := o.backend.Upload(o.scalar, o.host); err != nil {
			return usual, err
		}
	}
	if o.recorder == nil {
		return usual, nil
	}
	return usual, o.recorder.PrepareUpdate(o.entries, o.adam())
}

// Measure enqueues making the gradients the mean over the bags of the step, and writing their Euclidean norm,
// which is not finite if any of them is not. norm is one float32 on the device. Gradients summed over several
// batches are divided by the number of their bags: a gradient whose norm is that number is scaled to norm 1.
func (o *Optimizer) Measure(norm *tensor.Tensor) error {
	if o.config.Accumulate > 1 {
		if err := o.backend.Clip(o.entries, o.scalar, 1); err != nil {
			return err
		}
	}
	return o.backend.GradNorm(norm, o.entries)
}

// Update enqueues clipping the gradients that Measure has seen, and changing the parameters.
func (o *Optimizer) Update(norm *tensor.Tensor) error {
	if o.config.ClipNorm > 0 {
		if err := o.backend.Clip(o.entries, norm, float32(o.config.ClipNorm)); err != nil {
			return err
		}
	}
	switch o.config.Optimizer {
	case SGD:
		return o.backend.SGD(o.entries, float32(o.config.Momentum))
	case AdamW:
		return o.backend.AdamW(o.entries, o.adam())
	}
	return o.backend.Adam(o.entries, o.adam())
}

// adam returns the constants of the next update; the zero value for SGD.
func (o *Optimizer) adam() update.AdamParams {
	if o.config.Optimizer == SGD {
		return update.AdamParams{}
	}
	return update.AdamParams{Beta1: float32(o.config.Beta1), Beta2: float32(o.config.Beta2),
		Epsilon: float32(o.config.Epsilon), Step: o.updates + 1}
}

// Bytes is the device memory of the state.
func (o *Optimizer) Bytes() int { return o.state.Bytes() }

// Close frees it.
func (o *Optimizer) Close() error { return o.state.Close() }
