package transformer

import (
	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// CPU implements Ops on the host in float32, with linear layers also in bfloat16. Scratch memory grows to the need of
// the largest call and stays: calls with shapes seen before allocate nothing.
type CPU struct {
	workers *tensor.Workers
	level   simd.Level

	scratch []scratch // one for each worker
	packed  []float32 // weights in panels, shared by the workers

	// The operation in progress, and its tasks: stored once, so that starting them allocates nothing.
	product   product
	attention attention
	rows      rowJob
	tasks     struct {
		pack, prepare, multiply, attend           func(worker, block int)
		normalize, gelu, sum, addProduct, arrange func(worker, block int)
	}
}

// scratch is the memory of one worker.
type scratch struct {
	offsets []int
	tile    simd.Tile
	cross   simd.Cross
	softmax simd.Softmax
	sums    []float32 // products before the steps after them
	pairs   []float32 // rows of a block, as pairs of bfloat16
	keys    []float32 // of a head, row after row
	values  []float32
	queries []float32 // of a block, in panels
	logits  []float32 // of a block of keys and queries
	lanes   []float32 // state of each query of a block: largest logit, sum, factor
}

var _ Ops = (*CPU)(nil)

// NewCPU makes the family on the host's device. level comes from simd.Detect or simd.Select.
func NewCPU(dev *tensor.CPU, level simd.Level) *CPU {
	c := &CPU{workers: dev.Workers, level: level, scratch: make([]scratch, dev.Workers.Threads())}
	c.tasks.pack, c.tasks.prepare = c.packBlock, c.prepareBlock
	c.tasks.multiply, c.tasks.attend = c.multiplyBlock, c.attendBlock
	c.tasks.normalize, c.tasks.gelu, c.tasks.sum = c.normalizeBlock, c.geluBlock, c.sumBlock
	c.tasks.addProduct, c.tasks.arrange = c.addProductBlock, c.arrangeBlock
	return c
}

// weightsOnHost checks that weights are float32 or bfloat16 in host memory.
func weightsOnHost(operation string, w *tensor.Tensor) error {
	if w.DType() == tensor.BFloat16 && len(w.BFloat16s()) == w.Len() {
		return nil
	}
	return tensor.OnHost(operation, tensor.Float32, w)
}
