package model

import (
	"errors"
	"fmt"

	"nmn/kernels/noise"
	"nmn/kernels/tensor"

	dense "gorgonia.org/tensor"
)

// LargeLosses says what becomes of the labels 0 of a batch whose losses are largest.
type LargeLosses struct {
	Treatment Treatment
	Count     int // of them in the batch
}

// Treatment is what becomes of a label with a large loss.
type Treatment uint8

// Treatments.
const (
	KeepLarge    Treatment = iota // it is learned as it is: nothing is looked for
	RejectLarge                   // it is left out of the step
	CorrectLarge                  // it is taken as 1 in the step
)

// large holds the count on the device: it changes from epoch to epoch, while a step that was recorded
// reads the same memory whenever it is replayed.
type large struct {
	count    *tensor.Tensor // int32 1; nil until it is first needed
	host     *dense.Dense
	sent     int  // what count was made from
	uploaded bool // whether it has been uploaded
}

// Prepare brings what a step reads beside its batch up to date on the device, where it has changed: the
// seeds of dropout and the count of large losses. Step does so by itself; before a step that was recorded
// is replayed it must be called.
func (n *Net) Prepare(o StepOptions) error {
	if err := n.masks.Upload(n.backend, o.DropoutSeed); err != nil {
		return wrapped(err)
	}
	return n.prepareLarge(o.LargeLosses)
}

func (n *Net) prepareLarge(o LargeLosses) error {
	l := &n.large
	if o.Treatment == KeepLarge || l.uploaded && l.sent == o.Count {
		return nil
	}
	if l.count == nil {
		count, err := n.params.Alloc(tensor.Int32, 1)
		if err != nil {
			return fmt.Errorf("model: cannot hold the count of large losses: %w", err)
		}
		l.count, l.host = count, dense.New(dense.WithShape(1), dense.WithBacking(make([]int32, 1)))
	}
	l.host.Int32s()[0], l.uploaded = int32(o.Count), false
	if err := n.backend.Upload(l.count, l.host); err != nil {
		return fmt.Errorf("model: the count of large losses: %w", err)
	}
	l.sent, l.uploaded = o.Count, true
	return nil
}

// targets is what a step learns: the plan's labels, or what becomes of them where large losses are
// treated. These are looked for among the logits of bags, which takes a pass of its own over the logits.
func (n *Net) targets(p *Plan, o StepOptions, noisy bool) (*tensor.Tensor, error) {
	var instead float32
	switch o.LargeLosses.Treatment {
	case RejectLarge:
		instead = noise.Unknown
	case CorrectLarge:
		instead = 1
	default:
		return p.Labels, nil
	}
	switch {
	case noisy:
		return nil, errors.New("model: large losses are treated without a noise model")
	case o.Evidence:
		return nil, errors.New("model: large losses are those of labels, not of evidence")
	}
	err := n.backend.NoiseStep(noise.StepOutput{BagLogit: p.BagLogit}, p.Logits, nil, nil, p.bags,
		noise.StepParams{MIL: n.config.MIL})
	if err != nil {
		return nil, err
	}
	return p.targets, n.backend.LargeLosses(p.targets, p.BagLogit, p.Labels, n.large.count, instead)
}
