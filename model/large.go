package model

import (
	"errors"
	"fmt"

	"nmn/kernels/noise"
	"nmn/kernels/tensor"

	dense "gorgonia.org/tensor"
)

// LargeLosses configures the treatment of the zero labels of a batch with the largest losses.
type LargeLosses struct {
	Treatment Treatment
	Count     int // number of treated labels in the batch
}

// Treatment is the treatment of a label with a large loss.
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
	sent     int  // value that count was made from
	uploaded bool // whether it has been uploaded
}

// Prepare updates the inputs of a step on the device other than its batch, if they have changed: the seeds of
// dropout and the count of large losses. Step calls it by itself. Call it before replaying a recorded step.
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

// targets returns the targets of a step: the plan's labels, or labels adjusted for large losses. Finding the
// large losses takes a separate pass over the logits of bags.
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
		return nil, errors.New("model: large losses need labels, not evidence")
	}
	err := n.backend.NoiseStep(noise.StepOutput{BagLogit: p.BagLogit}, p.Logits, nil, nil, p.bags,
		noise.StepParams{MIL: n.config.MIL})
	if err != nil {
		return nil, err
	}
	return p.targets, n.backend.LargeLosses(p.targets, p.BagLogit, p.Labels, n.large.count, instead)
}
