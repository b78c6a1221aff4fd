package model

import (
	"fmt"

	"nmn/internal/rng"
	"nmn/kernels/tensor"

	dense "gorgonia.org/tensor"
)

// masks hold the seeds of dropout on the device: they change from epoch to epoch, while a step that was
// recorded reads the same memory whenever it is replayed.
type masks struct {
	all  *tensor.Tensor   // int32 M×2: lower and upper word, of each layer of the head but the last
	of   []*tensor.Tensor // the same, one row each
	host *dense.Dense
	sent uint64 // what all was made from
	up   bool   // whether it has been uploaded
}

// buildMasks makes room for the seeds of a net with dropout.
func (n *Net) buildMasks() error {
	m, layers := &n.masks, len(n.fc)-1
	if n.config.Dropout == 0 || layers == 0 {
		return nil
	}
	var err error
	if m.all, err = n.params.Alloc(tensor.Int32, layers, 2); err != nil {
		return fmt.Errorf("model: cannot hold the seeds of dropout: %w", err)
	}
	m.of = make([]*tensor.Tensor, layers)
	for i := range m.of {
		row, err := m.all.Rows(i, i+1)
		if err != nil {
			return err
		}
		if m.of[i], err = row.Reshape(2); err != nil {
			return err
		}
	}
	m.host = dense.New(dense.WithShape(layers, 2), dense.WithBacking(make([]int32, 2*layers)))
	return nil
}

// prepareMasks uploads the seeds of dropout, where they have changed.
func (n *Net) prepareMasks(o StepOptions) error {
	m := &n.masks
	if m.all == nil || m.up && m.sent == o.DropoutSeed {
		return nil
	}
	words := m.host.Int32s()
	for i := range m.of {
		seed := rng.Derive(o.DropoutSeed, n.fc[i].name)
		words[2*i], words[2*i+1] = int32(seed), int32(seed>>32)
	}
	m.up = false
	if err := n.backend.Upload(m.all, m.host); err != nil {
		return fmt.Errorf("model: the seeds of dropout: %w", err)
	}
	m.sent, m.up = o.DropoutSeed, true
	return nil
}
