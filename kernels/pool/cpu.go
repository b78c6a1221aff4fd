package pool

import (
	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// CPU implements Ops on the host in float32, except MaxPoolGradBias and MaxPool3GradBias, which also need
// another family: package kernels joins them. Each block writes its own rows, so that results are bit-equal
// for any number of threads. Beyond the contract it checks the offsets of bags.
//
// A NaN in a window or bag makes its maximum NaN. It is not specified to which element of the window the
// gradient of such a maximum goes.
type CPU struct {
	workers *tensor.Workers
	level   simd.Level
	window  windowJob
	overlap overlapJob
	lines   [][]float32 // a row of maxima for each worker
	offsets [][16]int   // offsets of a 3×3 window for each worker, each in its own cache lines
	bag     bagJob
	scratch []bagScratch // one for each worker

	// The blocks as values, made once: converting a method for each call would allocate.
	maxBlock, maxGradBlock                                       func(worker, block int)
	max3Block, max3GradBlock                                     func(worker, block int)
	bagMeanBlock, bagMaxBlock, bagMeanGradBlock, bagMaxGradBlock func(worker, block int)
}

// NewCPU makes the family on the host's device. Results are equal in every bit at all levels.
func NewCPU(dev *tensor.CPU, level simd.Level) *CPU {
	c := &CPU{workers: dev.Workers, level: level, scratch: make([]bagScratch, dev.Workers.Threads())}
	c.lines, c.offsets = make([][]float32, dev.Workers.Threads()), make([][16]int, dev.Workers.Threads())
	c.max3Block, c.max3GradBlock = c.runMax3Block, c.runMax3GradBlock
	c.maxBlock, c.maxGradBlock = c.runMaxBlock, c.runMaxGradBlock
	c.bagMeanBlock, c.bagMaxBlock = c.runBagMeanBlock, c.runBagMaxBlock
	c.bagMeanGradBlock, c.bagMaxGradBlock = c.runBagMeanGradBlock, c.runBagMaxGradBlock
	return c
}
