package recurrent

import (
	"cmp"
	"fmt"

	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// CPU implements Ops on the host in float32. Scratch memory grows to the need of the largest call and stays:
// calls with shapes seen before allocate nothing.
type CPU struct {
	workers     *tensor.Workers
	level       simd.Level
	rows, width int // of the level's tiles

	scratch []scratch // one for each worker
	packed  []float32 // recurrent weights in panels
	offsets []int     // start of the rows of a step
	keep    int       // logits that are kept for the gradients at most

	// The operation in progress, and its tasks: stored once, so that starting them allocates nothing.
	layer   layer
	look    lookup
	entropy entropy
	logits  normalizer
	sum     addition
	tasks   struct {
		packForward, forward, packBackward, backward, carry func(worker, block int)
		embed, embedGrad                                    func(worker, block int)
		packRows, packColumns, losses, gradients, join      func(worker, block int)
		logSoftmax, add                                     func(worker, block int)
	}
}

// scratch is the memory of one worker.
type scratch struct {
	tile   simd.Tile
	gates  simd.Gates
	grad   simd.GatesGrad
	sums   []float32 // products of a block
	logits []float32 // of a block of words, word by word
	turned []float32 // the same, row by row
	strip  []float32 // columns of the weights of a block of words
	lanes  []float32 // state of each row: largest logit, sum, factor
}

var _ Ops = (*CPU)(nil)

// NewCPU makes the family on the host's device. level comes from simd.Detect or simd.Select.
func NewCPU(dev *tensor.CPU, level simd.Level) *CPU {
	c := &CPU{workers: dev.Workers, level: level, scratch: make([]scratch, dev.Workers.Threads()), keep: keptFloats}
	c.rows, c.width, _ = level.TileShape()
	c.tasks.packForward, c.tasks.forward = c.packForwardBlock, c.forwardBlock
	c.tasks.packBackward, c.tasks.backward, c.tasks.carry = c.packBackwardBlock, c.backwardBlock, c.carryBlock
	c.tasks.embed, c.tasks.embedGrad = c.embedBlock, c.embedGradBlock
	c.tasks.packRows, c.tasks.packColumns = c.packRowsBlock, c.packColumnsBlock
	c.tasks.losses, c.tasks.gradients, c.tasks.join = c.lossesBlock, c.gradientsBlock, c.joinBlock
	c.tasks.logSoftmax, c.tasks.add = c.logSoftmaxBlock, c.addBlock
	return c
}

// rowOffsets writes the offsets of n rows in an array, a stride apart. The last offset is repeated for as
// many rows as a tile may read.
func (c *CPU) rowOffsets(offsets []int, n, stride int) []int {
	offsets = tensor.Grow(offsets, tensor.CeilTo(n, c.rows)+c.rows)
	for i := range offsets {
		offsets[i] = min(i, n-1) * stride
	}
	return offsets
}

// known checks that no word is beyond a vocabulary.
func known(operation string, words []int32, vocabulary int) error {
	for m, word := range words {
		if int(word) >= vocabulary {
			return fmt.Errorf("%s: row %d has word %d of a vocabulary of %d (words are 0 to %d, negative for none): %w",
				operation, m, word, vocabulary, vocabulary-1, ErrWord)
		}
	}
	return nil
}

// addition is an Add in progress, and addLength the elements of a task.
type addition struct{ dst, src []float32 }

const addLength = 16 << 10

func (c *CPU) Add(dst, src *tensor.Tensor) error {
	if err := cmp.Or(FitAdd(dst, src), tensor.OnHost("add", tensor.Float32, dst, src)); err != nil {
		return err
	}
	c.sum = addition{dst.Float32s(), src.Float32s()}
	c.workers.Run(tensor.Ceil(dst.Len(), addLength), c.tasks.add)
	c.sum = addition{}
	return nil
}

func (c *CPU) addBlock(_, block int) {
	lo, hi := block*addLength, min((block+1)*addLength, len(c.sum.dst))
	c.level.Add(c.sum.dst[lo:hi], c.sum.src[lo:hi])
}
