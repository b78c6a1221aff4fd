package activation

import (
	"errors"
	"fmt"

	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// ErrRate is wrapped by errors about dropout rates outside of [0, 1).
var ErrRate = errors.New("no such dropout rate")

// CPU implements Ops on the host in float32. Blocks are runs of blockLength elements, which no
// number of threads changes.
type CPU struct {
	workers *tensor.Workers
	level   simd.Level
	job     job

	// The blocks as values, made once: converting a method for each call would allocate.
	reluBlock, reluGradBlock, dropoutBlock func(worker, block int)
}

// blockLength is a multiple of the words of a counter, and of the batches of every level.
const blockLength = 16384

// job is the input of the blocks: out from in and, for ReLUGrad, y; the rest for dropout.
type job struct {
	out, in, y        []float32
	keys              []int32
	row, blocksPerRow int
	mask              simd.Dropout // of a first block
}

// NewCPU makes the family on the host's device. Results are equal in every bit at all levels.
func NewCPU(dev *tensor.CPU, level simd.Level) *CPU {
	c := &CPU{workers: dev.Workers, level: level}
	c.reluBlock, c.reluGradBlock, c.dropoutBlock = c.runReLUBlock, c.runReLUGradBlock, c.runDropoutBlock
	return c
}

func blocks(length int) int { return (length + blockLength - 1) / blockLength }

// block returns a run of data.
func block(data []float32, i int) []float32 {
	return data[i*blockLength : min((i+1)*blockLength, len(data))]
}

// onHost checks that tensors are float32 in host memory.
func onHost(operation string, tensors ...*tensor.Tensor) error {
	for _, t := range tensors {
		if t.Float32s() == nil {
			return fmt.Errorf("%s: %s is not float32 in host memory: %w", operation, t, tensor.ErrShape)
		}
	}
	return nil
}

// ReLU implements Ops.
func (c *CPU) ReLU(y, x *tensor.Tensor) error {
	if err := Fit("relu", y, x); err != nil {
		return err
	}
	if err := onHost("relu", y, x); err != nil {
		return err
	}
	c.job = job{out: y.Float32s(), in: x.Float32s()}
	c.workers.Run(blocks(x.Len()), c.reluBlock)
	c.job = job{}
	return nil
}

func (c *CPU) runReLUBlock(_, i int) {
	c.level.ReLU(block(c.job.out, i), block(c.job.in, i))
}

// ReLUGrad implements Ops.
func (c *CPU) ReLUGrad(dx, dy, y *tensor.Tensor) error {
	const operation = "gradient of relu"
	if err := Fit(operation, dx, dy, y); err != nil {
		return err
	}
	if err := onHost(operation, dx, dy, y); err != nil {
		return err
	}
	c.job = job{out: dx.Float32s(), in: dy.Float32s(), y: y.Float32s()}
	c.workers.Run(blocks(y.Len()), c.reluGradBlock)
	c.job = job{}
	return nil
}

func (c *CPU) runReLUGradBlock(_, i int) {
	c.level.ReLUGrad(block(c.job.out, i), block(c.job.in, i), block(c.job.y, i))
}

// Dropout implements Ops.
func (c *CPU) Dropout(y, x, keys, seed *tensor.Tensor, rate float32) error {
	return c.drop("dropout", y, x, keys, seed, rate)
}

// DropoutGrad implements Ops.
func (c *CPU) DropoutGrad(dx, dy, keys, seed *tensor.Tensor, rate float32) error {
	return c.drop("gradient of dropout", dx, dy, keys, seed, rate)
}

// drop is both: the mask depends on neither values nor gradients.
func (c *CPU) drop(operation string, out, in, keys, seed *tensor.Tensor, rate float32) error {
	row, err := fitDropout(operation, out, in, keys, seed, rate)
	if err != nil {
		return err
	}
	if err := onHost(operation, out, in); err != nil {
		return err
	}
	words := seed.Int32s()
	if keys.Int32s() == nil || words == nil {
		return fmt.Errorf("%s: keys %s and seed %s are not both in host memory: %w", operation, keys, seed, tensor.ErrShape)
	}
	c.job = job{
		out: out.Float32s(), in: in.Float32s(), keys: keys.Int32s(),
		row: row, blocksPerRow: blocks(row),
		mask: simd.Dropout{
			Seed:      [2]uint32{uint32(words[0]), uint32(words[1])},
			Threshold: uint32(float64(rate) * (1 << 32)),
			Scale:     float32(1 / (1 - float64(rate))),
		},
	}
	c.workers.Run(keys.Len()*c.job.blocksPerRow, c.dropoutBlock)
	c.job = job{}
	return nil
}

// runDropoutBlock handles a run of one row, so that counters restart with each row.
func (c *CPU) runDropoutBlock(_, i int) {
	j := &c.job
	t, part := i/j.blocksPerRow, i%j.blocksPerRow
	mask := j.mask
	mask.Counter, mask.Row = uint32(part*(blockLength/4)), uint32(j.keys[t])
	row := t * j.row
	c.level.Drop(block(j.out[row:row+j.row], part), block(j.in[row:row+j.row], part), mask)
}
