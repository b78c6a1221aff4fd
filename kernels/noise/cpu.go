package noise

import (
	"errors"

	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// ErrLabel is wrapped by errors about labels and evidence outside of their range, NaN among them.
var ErrLabel = errors.New("label out of range")

// CPU implements Ops on the host. Loops over instances have float32 inputs and outputs with float64 sums. The
// algebra of a (bag, class) is float64. Work is cut into blocks of one bag and blockClasses classes, and a
// step of few blocks into parts of their instances, by shapes alone: results are bit-equal for any number of
// threads.
//
// Beyond the contract the CPU checks the offsets of bags and the range of labels before it writes anything.
// Logits and confidences are not checked: NaN makes the results of its bag and class NaN.
type CPU struct {
	workers *tensor.Workers
	level   simd.Level
	scratch []classes // one for each worker
	losses  []lossSum // of each block of a step
	parts   []sums    // sums of each part of each block, if a step has parts
	decided []classes // decisions of each block, if a step has parts
	ranks   []uint32  // of the logits of labels 0, in LargeLosses

	step stepJob

	excluding []excluding // one for each worker, once a step with exclusive classes has come
	bagLosses []float32   // of such a step, nil if not wanted

	// The blocks as values, made once: converting a method for each call would allocate.
	stepBlock, joinBlock, decideBlock, spreadBlock func(worker, block int)
	exclusiveBlock                                 func(worker, bag int)
}

// blockClasses is the number of neighbouring classes that a block works on: enough to overlap the latencies
// of the classes, and few enough that a bag of many cells stays in the cache.
const blockClasses = 64

// classes is the state of a block of classes of one bag.
type classes struct {
	sums
	share, prob, logit [blockClasses]float64 // Scale·dLoss/db, the bag's p, and its logit if p is tiny
	factor             [blockClasses]float32 // of the instances
}

// NewCPU makes the family on the host's device. Levels differ in the last bits.
func NewCPU(dev *tensor.CPU, level simd.Level) *CPU {
	c := &CPU{workers: dev.Workers, level: level, scratch: make([]classes, dev.Workers.Threads())}
	c.stepBlock, c.joinBlock = c.runStepBlock, c.runJoinBlock
	c.decideBlock, c.spreadBlock = c.runDecideBlock, c.runSpreadBlock
	return c
}

// blocksFor is the number of blocks of classes.
func blocksFor(classes int) int { return (classes + blockClasses - 1) / blockClasses }

// frames returns the frames of a bag. Without offsets each frame is a bag.
func frames(offsets []int32, bag int) (lo, hi int) {
	if offsets == nil {
		return bag, bag + 1
	}
	return int(offsets[bag]), int(offsets[bag+1])
}

// overlap reports whether two tensors begin at the same element: the mistake of passing one tensor
// twice, not every view of shared memory.
func overlap(a, b *tensor.Tensor) bool {
	return a != nil && b != nil && a.Len() > 0 && b.Len() > 0 && &a.Float32s()[0] == &b.Float32s()[0]
}
