package model

import (
	"nmn/kernels/conv"
	"nmn/kernels/noise"
	"nmn/kernels/pixels"
	"nmn/kernels/tensor"
)

// Normalize turns the plan's pixels into its input X: flips, mean and scale. Features are uploaded into X
// as they are to be.
func (n *Net) Normalize(p *Plan) error {
	if n.config.Input > 0 {
		return nil
	}
	return n.backend.Normalize(p.X, p.Pixels, p.Sizes, p.Flips, pixels.Params{Mean: n.config.Mean, Scale: n.config.Scale})
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
	return n.backend.NoiseStep(out, p.Logits, p.Confidence, z, p.bags, noise.StepParams{MIL: n.config.MIL, Scale: 1})
}

// forward computes logits and the confidence map, in training with dropout.
func (n *Net) forward(p *Plan, training bool) error {
	x := p.input
	for i, block := range n.blocks {
		for j, l := range block {
			n.sections.begin(forwardPass, l.name)
			y := p.convs[i][j].y
			if err := n.backend.Conv(y, x, l.w.filter(), l.b.W, conv.Params{Pad: l.pad, ReLU: true}); err != nil {
				return err
			}
			x = y
		}
		if n.pools(i) {
			if err := n.backend.MaxPool(p.pools[i].y, x); err != nil {
				return err
			}
			x = p.pools[i].y
		}
	}
	for i, o := range p.hidden {
		l, y := n.fc[i], o.y
		n.sections.begin(forwardPass, l.name)
		if err := n.backend.Conv(y, x, l.w.filter(), l.b.W, conv.Params{Pad: l.pad, ReLU: true}); err != nil {
			return err
		}
		if training && n.config.Dropout > 0 {
			if err := n.backend.Dropout(y, y, p.Keys, n.masks.of[i], float32(n.config.Dropout)); err != nil {
				return err
			}
		}
		x = y
	}
	l := n.classifier()
	n.sections.begin(forwardPass, l.name)
	if err := n.backend.Conv(p.Logits, x, l.w.filter(), l.b.W, conv.Params{Pad: l.pad}); err != nil {
		return err
	}
	return n.forwardNoise(p)
}

// forwardNoise computes O = U g(X) + b; without features O is the bias itself.
func (n *Net) forwardNoise(p *Plan) error {
	n.sections.begin(forwardPass, "noise")
	if n.config.Noise != FeatureDependent {
		return nil
	}
	if err := n.backend.BagPool(p.Pooled, p.Features, p.bags, n.config.poolKind()); err != nil {
		return err
	}
	return n.backend.Conv(p.confF, p.pooledF, n.noise.w.W, n.noise.b.W, conv.Params{})
}
