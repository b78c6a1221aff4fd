package model

import (
	"nmn/kernels/conv"
	"nmn/kernels/noise"
	"nmn/kernels/tensor"
)

// StepOptions are the options that change from one step to the next.
type StepOptions struct {
	// Scale multiplies all gradients: 1/bags for the mean over the bags of an update.
	Scale float32
	// DropoutSeed selects the masks, together with the plan's keys. It should change every epoch.
	DropoutSeed uint64
	// Accumulate adds to the gradients of the steps before instead of overwriting them.
	Accumulate bool
	// WithoutNoise trains the classifier alone: Labels are taken as targets, which may be soft or
	// unknown, and the noise model gets no gradient (its gradients are left as they are).
	WithoutNoise bool
	// Asymmetric selects the asymmetric loss. The zero value is the cross-entropy. It requires a net without
	// a noise model.
	Asymmetric noise.AsymmetricLoss
	// LargeLosses treats zero labels of the batch with large losses specially. It requires a net without a
	// noise model.
	LargeLosses LargeLosses
	// Evidence is set if Labels are log-likelihood ratios of the observations (noise.StepParams). It requires
	// a net without a noise model, and excludes Asymmetric and LargeLosses.
	Evidence bool
	// Weighted is set if the plan's Weights multiply the loss of each bag.
	Weighted bool
	// Done, if set, is called for each of the Gradients, in their order, after the calls that complete them.
	Done func(layer int) error
	// Part selects a part of the step; the zero value does it all.
	Part StepPart
}

// StepPart is a part of a step that is enqueued, or recorded, by itself.
type StepPart int

const (
	WholeStep StepPart = iota
	// UpperPart is the forward pass, and the backward pass without the blocks of convolutions. If frames go
	// in chunks, it leaves out only the blocks of the chunk that goes backward last.
	UpperPart
	// LowerPart is the rest. It must follow UpperPart of the same plan, with no other use of the plan between
	// them.
	LowerPart
)

// Step computes the loss of the batch in X and Labels, and the gradients of all parameters that are not
// frozen. It changes no parameter.
func (n *Net) Step(p *Plan, o StepOptions) error {
	if err := n.Prepare(o); err != nil {
		return err
	}
	defer n.sections.end()
	if o.Part == LowerPart {
		return n.backwardLower(p, o)
	}
	if err := n.forward(p, true); err != nil {
		return err
	}
	out := noise.StepOutput{
		Loss:      p.Loss,
		DLogits:   p.dLogits,
		DO:        p.dO,
		Prob:      p.Prob,
		Observed:  p.Observed,
		Posterior: p.Posterior,
	}
	confidence := p.Confidence
	if o.WithoutNoise || confidence == nil {
		confidence, out.DO = nil, nil
	}
	labels, err := n.targets(p, o, confidence != nil)
	if err != nil {
		return err
	}
	if n.config.Exclusive { // the matrix is held, and K² operations for each bag would be for nothing
		out.DO, out.Observed = nil, nil
	}
	params := noise.StepParams{MIL: n.config.MIL, Scale: o.Scale, Asymmetric: o.Asymmetric, Evidence: o.Evidence,
		Exclusive: n.config.Exclusive}
	if o.Weighted {
		params.Weights = p.Weights
	}
	if err := n.backend.NoiseStep(out, p.Logits, confidence, labels, p.bags, params); err != nil {
		return err
	}
	if out.DO != nil {
		if err := n.backwardNoise(p, o); err != nil {
			return err
		}
	}
	if err := o.done(0); err != nil {
		return err
	}
	return n.backwardChunks(p, o, out.DO != nil)
}

// backwardNoise computes the gradients of U and b, and the gradient of g(X) into dPooled. If there are
// several chunks, it also computes the gradient of the g of each frame.
func (n *Net) backwardNoise(p *Plan, o StepOptions) error {
	l := n.noise
	n.sections.begin(backwardPass, "noise")
	params := conv.Params{Accumulate: o.Accumulate}
	if l.b.G != nil {
		if err := n.backend.ConvGradBias(l.b.G, p.dOf, params); err != nil {
			return err
		}
	}
	if l.w == nil {
		return nil
	}
	if l.w.G != nil {
		if err := n.backend.ConvGradFilter(l.w.G, p.pooledF, p.dOf, params); err != nil {
			return err
		}
	}
	if err := n.backend.ConvGradData(p.dPooled, p.dOf, l.w.W, nil, conv.Params{}); err != nil || p.means == nil {
		return err
	}
	return n.backend.BagPoolGrad(p.dMeans, p.dPooledN, p.means, p.Pooled, p.bags, n.config.poolKind(), false)
}

// backward sends the dLogits of a chunk down to the lowest layer that learns. noisy is set if there is a
// gradient of the pooled features.
func (n *Net) backward(c *chunk, o StepOptions, noisy bool) error {
	lowest := n.lowest()
	flat := len(n.units) // position of the head's first layer, counted over all units
	dy := c.dLogits
	for i := len(n.fc) - 1; i >= 0; i-- {
		l := &n.fc[i]
		n.sections.begin(backwardPass, l.name)
		x, _ := n.belowHead(c, i)
		if err := n.paramGradients(l, x.y, dy, o); err != nil {
			return err
		}
		if err := o.done(len(n.fc) - i); err != nil {
			return err
		}
		if flat+i <= lowest {
			return nil
		}
		if err := n.backwardHead(c, i, dy, noisy); err != nil {
			return err
		}
		dy = x.dy
	}
	if o.Part == UpperPart {
		return nil
	}
	return n.backwardUnits(c, o, lowest)
}

// backwardLower does the part of backward that UpperPart leaves out.
func (n *Net) backwardLower(p *Plan, o StepOptions) error {
	lowest := n.lowest()
	if lowest >= len(n.units) {
		return nil
	}
	o.Accumulate = o.Accumulate || len(p.chunks) > 1
	return n.backwardUnits(&p.chunks[0], o, lowest)
}

// backwardHead computes the gradient of the input of layer i of the head from the gradient of its output. If
// the noise model reads this input, its gradient of g is added.
func (n *Net) backwardHead(c *chunk, i int, dy *tensor.Tensor, noisy bool) error {
	l := n.fc[i]
	x, mask := n.belowHead(c, i)
	params := conv.Params{Pad: l.pad}
	if i == n.config.tap() && noisy && n.config.Noise == FeatureDependent && !n.config.NoiseDetach {
		if err := n.backend.BagPoolGrad(x.dy, c.dPooled, x.y, c.pooled, c.bags, n.config.poolKind(),
			false); err != nil {
			return err
		}
		params.Accumulate = true
	}
	if err := n.backend.ConvGradData(x.dy, dy, l.w.Filter(), mask, params); err != nil {
		return err
	}
	if i == 0 || n.config.Dropout == 0 {
		return nil
	}
	return n.backend.DropoutGrad(x.dy, x.dy, c.keys, n.masks.Of[i-1], float32(n.config.Dropout))
}

// belowHead is the input of layer i of the head, and the mask of its gradient. The input after another layer
// is 0 wherever that layer's ReLU or dropout is 0, so one mask serves both, and DropoutGrad then scales the
// kept values. A pool masks by itself, and the input of the net has no mask.
func (n *Net) belowHead(c *chunk, i int) (x output, mask *tensor.Tensor) {
	if i > 0 {
		return c.hidden[i-1], c.hidden[i-1].y
	}
	x = c.at(len(n.units))
	if len(n.units) > 0 {
		mask = n.units[len(n.units)-1].mask(x)
	}
	return x, mask
}

// paramGradients computes the gradients of a layer's parameters.
func (n *Net) paramGradients(l *layer, x, dy *tensor.Tensor, o StepOptions) error {
	if err := n.filterGradient(l, x, dy, o); err != nil || l.b.G == nil {
		return err
	}
	params := l.params()
	params.Accumulate = o.Accumulate
	return n.backend.ConvGradBias(l.b.G, dy, params)
}

func (n *Net) filterGradient(l *layer, x, dy *tensor.Tensor, o StepOptions) error {
	if l.w.G == nil {
		return nil
	}
	params := l.params()
	params.Accumulate = o.Accumulate
	return n.backend.ConvGradFilter(l.w.G, x, dy, params)
}
