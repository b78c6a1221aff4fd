package model

import (
	"errors"
	"fmt"

	"nmn/kernels"
	"nmn/kernels/tensor"
)

// tooLarge tells what would fit when a batch did not. It is called with the buffers given back.
func (n *Net) tooLarge(frames, bags int, training bool, err error) error {
	err = fmt.Errorf("model: cannot hold a batch of %d frames in %d bags: %w", frames, bags, err)
	accountant, ok := n.backend.(kernels.Accountant)
	if !ok || !errors.Is(err, kernels.ErrOutOfMemory) {
		return err
	}
	free, asking := accountant.FreeBytes()
	if asking != nil {
		return err
	}
	fits := n.largest(frames, bags, training, free)
	if fits == 0 {
		return fmt.Errorf("%w; not one bag would fit: take smaller pictures or fewer frames", err)
	}
	return fmt.Errorf("%w; at most %d bags of as many frames would fit", err, fits)
}

// largest is the number of bags, below bags and with as many frames each, whose buffers fill so many bytes
// at most.
func (n *Net) largest(frames, bags int, training bool, bytes int) int {
	lo, hi := 0, bags // lo fits, hi does not
	for hi-lo > 1 {
		middle := (lo + hi) / 2
		if n.planBytes(capacity{(frames*middle + bags - 1) / bags, middle, training}) <= bytes {
			lo = middle
		} else {
			hi = middle
		}
	}
	return lo
}

// planBytes is the memory of the buffers of a capacity, counted without taking it.
func (n *Net) planBytes(c capacity) int {
	counted := *n
	counted.buffers, counted.plans = tensor.NewArena(counter{n.backend}), map[planKey]*Plan{}
	if err := counted.grow(c); err != nil {
		return 0
	}
	return counted.buffers.Bytes()
}

// counter is a device that gives tensors without memory.
type counter struct{ tensor.Device }

// Alloc implements tensor.Device.
func (counter) Alloc(dtype tensor.DType, shape ...int) (*tensor.Tensor, error) {
	const nowhere = 256
	return tensor.OfAddress(nowhere, dtype, shape...)
}

// Free implements tensor.Device.
func (counter) Free(*tensor.Tensor) error { return nil }
