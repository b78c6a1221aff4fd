package activation

import (
	"cmp"
	"errors"

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

	// The block as a value, made once: converting a method for each call would allocate.
	dropoutBlock func(worker, block int)
}

// blockLength is a multiple of the words of a counter, and of the batches of every level.
const blockLength = 16384

// job is the input of the blocks.
type job struct {
	out, in           []float32
	keys              []int32
	row, blocksPerRow int
	mask              simd.Dropout // of a first block
}

// NewCPU makes the family on the host's device. Results are equal in every bit at all levels.
func NewCPU(dev *tensor.CPU, level simd.Level) *CPU {
	c := &CPU{workers: dev.Workers, level: level}
	c.dropoutBlock = c.runDropoutBlock
	return c
}

func blocks(length int) int { return (length + blockLength - 1) / blockLength }

// block returns a run of data.
func block(data []float32, i int) []float32 {
	return data[i*blockLength : min((i+1)*blockLength, len(data))]
}

func (c *CPU) Dropout(y, x, keys, seed *tensor.Tensor, rate float32) error {
	return c.drop("dropout", y, x, keys, seed, rate)
}

func (c *CPU) DropoutGrad(dx, dy, keys, seed *tensor.Tensor, rate float32) error {
	return c.drop("gradient of dropout", dx, dy, keys, seed, rate)
}

// drop is both: the mask depends on neither values nor gradients.
func (c *CPU) drop(operation string, out, in, keys, seed *tensor.Tensor, rate float32) error {
	row, err := fitDropout(operation, out, in, keys, seed, rate)
	if err := cmp.Or(err, tensor.OnHost(operation, tensor.Float32, out, in)); err != nil {
		return err
	}
	words := seed.Int32s()
	if keys.Int32s() == nil || words == nil {
		return tensor.Misfit(operation, "keys %s and seed %s are not both in host memory", keys, seed)
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
