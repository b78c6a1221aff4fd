package s2vt

import (
	"errors"

	"nmn/kernels/tensor"
)

// capacity is the size of the buffers, in rows.
type capacity struct{ frames, words, outputs int }

// memory is the whole buffers, at capacity, without shape.
type memory struct {
	features, embedded, dembedded, seen, dseen, scratch *tensor.Tensor
	lower, upper                                        [3]*tensor.Tensor // gates, h, c
	dh, outputs, doutputs, results                      *tensor.Tensor
	norm                                                *tensor.Tensor // the first of results
	ints, still                                         *tensor.Tensor

	hostFloats  []float32
	hostInts    []int32
	hostResults []float32
}

// ahead is how many results stand before the losses: the norm of the gradients, and what brings the losses to a
// multiple of 16 bytes.
const ahead = 4

func (n *Net) grow(to capacity) error {
	if err := n.buffers.Close(); err != nil {
		return err
	}
	clear(n.plans)
	n.capacity, n.memory = capacity{}, memory{}
	c, m, steps := n.config, memory{}, to.frames+to.words
	gates := 4 * c.Hidden
	ints := 2*to.frames + 3*to.words + 3*to.outputs
	for _, x := range []struct {
		at    **tensor.Tensor
		dtype tensor.DType
		size  int
	}{
		{&m.features, tensor.Float32, to.frames * c.Features}, {&m.embedded, tensor.Float32, to.frames * c.Embedding},
		{&m.dembedded, tensor.Float32, to.frames * c.Embedding},
		{&m.seen, tensor.Float32, to.words * c.Words}, {&m.dseen, tensor.Float32, to.words * c.Words},
		{&m.scratch, tensor.Float32, max(to.frames, to.words) * gates}, {&m.dh, tensor.Float32, steps * c.Hidden},
		{&m.lower[0], tensor.Float32, steps * gates}, {&m.lower[1], tensor.Float32, steps * c.Hidden},
		{&m.lower[2], tensor.Float32, steps * c.Hidden},
		{&m.upper[0], tensor.Float32, steps * gates}, {&m.upper[1], tensor.Float32, steps * c.Hidden},
		{&m.upper[2], tensor.Float32, steps * c.Hidden},
		{&m.outputs, tensor.Float32, to.outputs * c.Hidden}, {&m.doutputs, tensor.Float32, to.outputs * c.Hidden},
		{&m.results, tensor.Float32, ahead + to.outputs},
		{&m.ints, tensor.Int32, ints}, {&m.still, tensor.Int32, to.words},
	} {
		var err error
		if *x.at, err = n.buffers.Alloc(x.dtype, x.size); err != nil {
			return errors.Join(err, n.buffers.Close())
		}
	}
	m.hostFloats, m.hostInts, m.hostResults = make([]float32, to.frames*c.Features), make([]int32, ints),
		make([]float32, ahead+to.outputs)
	var err error
	if m.norm, err = m.results.Rows(0, 1); err != nil {
		return errors.Join(err, n.buffers.Close())
	}
	n.capacity, n.memory = to, m
	return nil
}
