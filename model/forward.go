package model

import (
	"nmn/kernels/conv"
	"nmn/kernels/noise"
	"nmn/kernels/pixels"
	"nmn/kernels/tensor"
)

// Normalize turns the plan's pixels into its input X: flips, mean and scale. Features do not need it: they
// are uploaded into X. A plan of several chunks does it by itself, chunk by chunk.
func (n *Net) Normalize(p *Plan) error {
	if len(p.chunks) > 1 {
		return nil
	}
	return n.normalize(&p.chunks[0])
}

func (n *Net) normalize(c *chunk) error {
	if n.config.Input > 0 {
		return nil
	}
	return n.backend.Normalize(c.x, c.pixels, c.sizes, c.flips,
		pixels.Params{Mean: n.config.Mean, Scale: n.config.Scale})
}

// Forward computes Prob, Observed and BagLogit from X, without dropout. With labels it computes Loss
// and Posterior too.
func (n *Net) Forward(p *Plan, labels bool) error {
	defer n.sections.end()
	if err := n.forward(p, false); err != nil {
		return err
	}
	out := noise.StepOutput{Prob: p.Prob, Observed: p.Observed, BagLogit: p.BagLogit}
	var z *tensor.Tensor
	if labels {
		z, out.Loss, out.Posterior = p.Labels, p.Loss, p.Posterior
	}
	return n.backend.NoiseStep(out, p.Logits, p.Confidence, z, p.bags, noise.StepParams{MIL: n.config.MIL,
		Exclusive: n.config.Exclusive, Scale: 1})
}

// forward computes logits and the confidence map, in training with dropout.
func (n *Net) forward(p *Plan, training bool) error {
	for i := range p.chunks {
		c := &p.chunks[i]
		if err := n.forwardLayers(p, c, training); err != nil {
			return err
		}
		l := n.classifier()
		n.sections.begin(forwardPass, l.name)
		x, _ := n.belowHead(c, len(n.fc)-1)
		params := conv.Params{Pad: l.pad, RoundedBias: l.b.Copy}
		if err := n.backend.Conv(c.logits, x.y, l.w.Filter(), l.b.W, params); err != nil {
			return err
		}
		if err := n.pool(c); err != nil {
			return err
		}
	}
	return n.forwardNoise(p)
}

// forwardLayers takes a chunk up to the last hidden layer.
func (n *Net) forwardLayers(p *Plan, c *chunk, training bool) error {
	if len(p.chunks) > 1 {
		if err := n.normalize(c); err != nil {
			return err
		}
	}
	for i, u := range n.units {
		if err := n.forwardUnit(c, u, c.maps[i].y); err != nil {
			return err
		}
	}
	x := c.at(len(n.units)).y
	for i, o := range c.hidden {
		l, y := n.fc[i], o.y
		n.sections.begin(forwardPass, l.name)
		params := conv.Params{Pad: l.pad, ReLU: true, RoundedBias: l.b.Copy}
		if err := n.backend.Conv(y, x, l.w.Filter(), l.b.W, params); err != nil {
			return err
		}
		if training && n.config.Dropout > 0 {
			if err := n.backend.Dropout(y, y, c.keys, n.masks.Of[i], float32(n.config.Dropout)); err != nil {
				return err
			}
		}
		x = y
	}
	return nil
}

// forwardUnit computes the output of a unit of the backbone.
func (n *Net) forwardUnit(c *chunk, u *unit, y *tensor.Tensor) error {
	x := c.at(u.X).y
	switch u.Kind {
	case MaxPool2:
		return n.backend.MaxPool(y, x)
	case MaxPool3:
		return n.backend.MaxPool3(y, x)
	}
	n.sections.begin(forwardPass, u.name)
	params := u.params()
	params.ReLU = u.ReLU
	if u.Shortcut > 0 {
		return n.backend.ConvAdd(y, x, u.w.Filter(), u.b.W, c.at(u.Shortcut).y, params)
	}
	params.RoundedBias = u.b.Copy
	return n.backend.Conv(y, x, u.w.Filter(), u.b.W, params)
}

// pool computes g(X) of the bags of a plan, or of the frames of one of several chunks.
func (n *Net) pool(c *chunk) error {
	if n.config.Noise != FeatureDependent {
		return nil
	}
	n.sections.begin(forwardPass, "noise")
	return n.backend.BagPool(c.pooled, c.features, c.bags, n.config.poolKind())
}

// forwardNoise computes O = U g(X) + b. Without features O is the bias itself.
func (n *Net) forwardNoise(p *Plan) error {
	n.sections.begin(forwardPass, "noise")
	if n.config.Noise != FeatureDependent {
		return nil
	}
	if p.means != nil { // all frames of a bag have equally many cells: the mean of their g is the bag's g
		if err := n.backend.BagPool(p.Pooled, p.means, p.bags, n.config.poolKind()); err != nil {
			return err
		}
	}
	return n.backend.Conv(p.confF, p.pooledF, n.noise.w.W, n.noise.b.W, conv.Params{})
}
