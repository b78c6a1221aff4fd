package model

import (
	"errors"
	"fmt"
	"math"
	"sort"

	host "nmn/internal/memory"
	"nmn/kernels"
	"nmn/kernels/tensor"
)

// tooLarge returns an error with the batch size that would fit. It is called after the buffers were freed.
func (n *Net) tooLarge(frames, bags int, training bool, err error) error {
	err = fmt.Errorf("model: cannot hold a batch of %d frames in %d samples: %w", frames, bags, err)
	if !errors.Is(err, kernels.ErrOutOfMemory) && !errors.Is(err, host.ErrFull) {
		return err
	}
	free, known := FreeBytes(n.backend)
	if !known {
		return err
	}
	if fits := n.largest(frames, bags, training, free); fits > 0 {
		return fmt.Errorf("%w; at most %d samples with equally many frames would fit", err, fits)
	}
	if chunk := n.largestChunk(frames, bags, training, free); chunk > 0 {
		return fmt.Errorf("%w; the batch would fit in chunks of %d frames (`train.chunk_frames` %[2]d)", err, chunk)
	}
	return fmt.Errorf("%w; not one sample would fit: take smaller pictures or fewer frames", err)
}

// FreeBytes is the memory that the device of a backend has left.
func FreeBytes(backend kernels.Backend) (bytes int, known bool) {
	if card, ok := backend.(kernels.Card); ok {
		free, err := card.FreeBytes()
		return free, err == nil
	}
	free, known := host.Free()
	return int(min(free, math.MaxInt)), known
}

// checkHost compares the buffers of a capacity with the free memory of the host, if they lie there. The
// system kills a program that takes more without a message. A card refuses by itself.
func (n *Net) checkHost(c capacity) error {
	if _, card := n.backend.(kernels.Card); card {
		return nil
	}
	return host.Check("its buffers", int64(n.planBytes(c)-n.buffers.Bytes()))
}

// largestChunk is the largest number of frames, less than all, that may go through the layers together so
// that the buffers need at most this number of bytes; 0 for none.
func (n *Net) largestChunk(frames, bags int, training bool, bytes int) int {
	if n.config.Input > 0 {
		return 0
	}
	return sort.Search(frames-1, func(i int) bool { return n.ChunkBytes(frames, bags, i+1, training) > bytes })
}

// ChunkBytes returns the buffer memory for a batch of frames in bags with chunks of this number of frames. It
// allocates nothing.
func (n *Net) ChunkBytes(frames, bags, chunk int, training bool) int {
	return n.planBytes(capacity{frames: frames, bags: bags, chunk: chunk, training: training})
}

// largest is the number of bags, below bags and with equally many frames each, whose buffers need at most
// this number of bytes.
func (n *Net) largest(frames, bags int, training bool, bytes int) int {
	return sort.Search(bags-1, func(i int) bool {
		share := (frames*(i+1) + bags - 1) / bags
		return n.planBytes(capacity{frames: share, bags: i + 1, chunk: n.chunkOf(share), training: training}) > bytes
	})
}

// planBytes returns the buffer memory of a capacity without allocating it. It returns more than any memory if
// a tensor would have too many values.
func (n *Net) planBytes(c capacity) int {
	counted := *n
	counted.buffers, counted.plans = tensor.NewArena(counter{n.backend}), map[planKey]*Plan{}
	if err := counted.grow(c); err != nil {
		return math.MaxInt / 2
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
