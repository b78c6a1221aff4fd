package model

import (
	"nmn/kernels/conv"
	"nmn/kernels/noise"
	"nmn/kernels/pool"
	"nmn/kernels/tensor"
)

// StepOptions are what changes from one step to the next.
type StepOptions struct {
	// Scale multiplies all gradients: 1/bags for the mean over the bags of an update.
	Scale float32
	// DropoutSeed selects the masks, together with the plan's keys; it should change every epoch.
	DropoutSeed uint64
	// Accumulate adds to the gradients of the steps before instead of overwriting them.
	Accumulate bool
	// WithoutNoise trains the classifier alone: Labels are taken as targets, which may be soft, and
	// the noise model gets no gradient (its gradients are left as they are).
	WithoutNoise bool
	// InputGradient computes the gradient with respect to X too, into DX.
	InputGradient bool
}

// Step computes the loss of the batch in X and Labels, and the gradients of all parameters that are
// not frozen. It changes no parameter.
func (n *Net) Step(p *Plan, o StepOptions) error {
	if err := n.Prepare(o); err != nil {
		return err
	}
	if err := n.forward(p, true); err != nil {
		return err
	}
	out := noise.StepOutput{Loss: p.Loss, DLogits: p.dLogits, DO: p.dO, Prob: p.Prob, Observed: p.Observed, Posterior: p.Posterior}
	confidence := p.Confidence
	if o.WithoutNoise || confidence == nil {
		confidence, out.DO = nil, nil
	}
	if err := n.backend.NoiseStep(out, p.Logits, confidence, p.Labels, p.bags, noise.StepParams{MIL: n.config.MIL, Scale: o.Scale}); err != nil {
		return err
	}
	if out.DO != nil {
		if err := n.backwardNoise(p, o); err != nil {
			return err
		}
	}
	if o.InputGradient && p.DX == nil {
		dx, err := n.buffers.Alloc(tensor.Float32, p.X.Shape()...)
		if err != nil {
			return err
		}
		p.DX = dx
	}
	return n.backward(p, o, out.DO != nil)
}

// backwardNoise computes the gradients of U and b, and of g(X) into dPooled.
func (n *Net) backwardNoise(p *Plan, o StepOptions) error {
	l := n.noise
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
	return n.backend.ConvGradData(p.dPooled, p.dOf, l.w.W, nil, conv.Params{})
}

// backward sends dLogits down to the lowest layer that learns. noisy tells that dPooled holds the
// gradient of the pooled features.
func (n *Net) backward(p *Plan, o StepOptions, noisy bool) error {
	lowest := n.lowest(o.InputGradient)
	flat := n.depth() // position of fc6, counted over all convolutions
	dy := p.dLogits
	inputs := [...]output{n.features(p), p.fc6, p.fc7}
	for i := 2; i >= 0; i-- {
		l, x := n.fc[i], inputs[i]
		if err := n.backwardParams(l, x.y, dy, o); err != nil {
			return err
		}
		if flat+i <= lowest {
			return nil
		}
		if i == 0 {
			return n.backwardFeatures(p, dy, o, lowest, noisy)
		}
		// x is 0 where either the ReLU or the dropout of the layer below is, so that one mask serves
		// both; DropoutGrad then scales what was kept.
		if err := n.backend.ConvGradData(x.dy, dy, l.w.W, x.y, conv.Params{Pad: l.pad}); err != nil {
			return err
		}
		if n.config.Dropout > 0 {
			if err := n.backend.DropoutGrad(x.dy, x.dy, p.Keys, n.masks.of[i-1], float32(n.config.Dropout)); err != nil {
				return err
			}
		}
		dy = x.dy
	}
	return nil
}

// backwardFeatures joins the gradients of the last feature map, from the noise model and from fc6,
// and goes on through the blocks.
func (n *Net) backwardFeatures(p *Plan, dy *tensor.Tensor, o StepOptions, lowest int, noisy bool) error {
	l, x := n.fc[0], n.features(p)
	params := conv.Params{Pad: l.pad}
	if noisy && n.config.Noise == FeatureDependent && !n.config.NoiseDetach {
		if err := n.backend.BagPoolGrad(x.dy, p.dPooledN, x.y, p.Pooled, p.bags, n.config.poolKind(), false); err != nil {
			return err
		}
		params.Accumulate = true
	}
	var mask *tensor.Tensor // the last feature map is the output of a ReLU, or of a pool that masks by itself
	if last := len(n.blocks) - 1; !n.pools(last) {
		mask = x.y
	}
	if err := n.backend.ConvGradData(x.dy, dy, l.w.W, mask, params); err != nil {
		return err
	}
	return n.backwardBlocks(p, o, lowest)
}

func (n *Net) backwardBlocks(p *Plan, o StepOptions, lowest int) error {
	flat := n.depth()
	for i := len(n.blocks) - 1; i >= 0; i-- {
		convs := p.convs[i]
		if n.pools(i) {
			if err := n.backwardPool(p, i, o); err != nil {
				return err
			}
		}
		for j := len(convs) - 1; j >= 0; j-- {
			flat--
			l, dy := n.blocks[i][j], convs[j].dy
			x, mask := n.below(p, i, j)
			learn := n.backwardParams
			if n.pools(i) && j == len(convs)-1 {
				learn = n.backwardFilter // the pool has taken the bias gradient along
			}
			if err := learn(l, x.y, dy, o); err != nil {
				return err
			}
			if flat <= lowest {
				if o.InputGradient {
					return n.backend.ConvGradData(p.DX, dy, l.w.W, nil, conv.Params{Pad: l.pad})
				}
				return nil
			}
			if err := n.backend.ConvGradData(x.dy, dy, l.w.W, mask, conv.Params{Pad: l.pad}); err != nil {
				return err
			}
		}
	}
	return nil
}

// backwardPool goes through the pool of a block and the ReLU below it, and takes the bias gradient of the
// convolution below that along, whose output gradient it writes.
func (n *Net) backwardPool(p *Plan, block int, o StepOptions) error {
	convs, pooled, b := p.convs[block], p.pools[block], n.blocks[block][len(n.blocks[block])-1].b
	top := convs[len(convs)-1]
	if b.G == nil {
		return n.backend.MaxPoolGrad(top.dy, pooled.dy, top.y, pooled.y, true)
	}
	return n.backend.MaxPoolGradBias(top.dy, b.G, pooled.dy, top.y, pooled.y, pool.MaxGradParams{ReLU: true, Accumulate: o.Accumulate})
}

// below is the input of convolution j of block i, and the mask of its gradient: the output of a ReLU,
// or nil below a pool, whose own gradient holds the mask.
func (n *Net) below(p *Plan, i, j int) (x output, mask *tensor.Tensor) {
	switch {
	case j > 0:
		return p.convs[i][j-1], p.convs[i][j-1].y
	case i > 0:
		return p.pools[i-1], nil
	}
	return output{y: p.input}, nil
}

func (n *Net) backwardParams(l layer, x, dy *tensor.Tensor, o StepOptions) error {
	if err := n.backwardFilter(l, x, dy, o); err != nil || l.b.G == nil {
		return err
	}
	return n.backend.ConvGradBias(l.b.G, dy, conv.Params{Pad: l.pad, Accumulate: o.Accumulate})
}

func (n *Net) backwardFilter(l layer, x, dy *tensor.Tensor, o StepOptions) error {
	if l.w.G == nil {
		return nil
	}
	return n.backend.ConvGradFilter(l.w.G, x, dy, conv.Params{Pad: l.pad, Accumulate: o.Accumulate})
}

// depth is the number of convolutions in the blocks.
func (n *Net) depth() int {
	depth := 0
	for _, block := range n.blocks {
		depth += len(block)
	}
	return depth
}

// lowest is the position of the first layer that learns, counted over all convolutions from the
// input; the gradient of the input wants all of them.
func (n *Net) lowest(input bool) int {
	if input {
		return 0
	}
	position := 0
	for _, block := range n.blocks {
		for _, l := range block {
			if l.w.G != nil || l.b.G != nil {
				return position
			}
			position++
		}
	}
	for _, l := range n.fc {
		if l.w.G != nil || l.b.G != nil {
			return position
		}
		position++
	}
	return position
}
