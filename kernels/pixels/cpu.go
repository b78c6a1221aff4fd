package pixels

import (
	"errors"
	"fmt"

	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// ErrParams is wrapped by errors about means and scales that are not finite.
var ErrParams = errors.New("constant out of range")

// CPU implements Ops on the host in float32. A block is some rows of pictures. Beyond the contract it
// checks that sizes lie within the pictures.
type CPU struct {
	workers *tensor.Workers
	level   simd.Level
	job     job

	block func(worker, block int) // made once: converting a method for each call would allocate
}

// job is the input of the blocks. sizes and flips are nil if all is valid and nothing is mirrored.
type job struct {
	geometry
	Params
	x      []float32
	pixels []uint8
	sizes  []int32
	flips  []uint8
}

// NewCPU makes the family on the host's device. Results are equal in every bit at all levels.
func NewCPU(dev *tensor.CPU, level simd.Level) *CPU {
	c := &CPU{workers: dev.Workers, level: level}
	c.block = c.runBlock
	return c
}

func (c *CPU) Normalize(x, pixels, sizes, flips *tensor.Tensor, p Params) error {
	g, err := Fit(x, pixels, sizes, flips, p)
	if err != nil {
		return err
	}
	j := job{geometry: g, Params: p, x: x.Float32s(), pixels: pixels.Uint8s(), sizes: sizes.Int32s(),
		flips: flips.Uint8s()}
	if j.x == nil || j.pixels == nil || sizes != nil && j.sizes == nil || flips != nil && j.flips == nil {
		return fmt.Errorf("normalize: output %s and its sources are not all in host memory: %w", x, tensor.ErrShape)
	}
	if err := j.checkSizes(); err != nil {
		return err
	}
	c.job = j
	rows := j.blockRows()
	c.workers.Run((g.T*g.H+rows-1)/rows, c.block)
	c.job = job{}
	return nil
}

func (j *job) checkSizes() error {
	for i, size := range j.sizes {
		if limit := [2]int{j.H, j.W}[i%2]; size < 0 || int(size) > limit {
			return fmt.Errorf("normalize: picture %d: valid %s %d is not in 0 to %d: %w",
				i/2, [2]string{"height", "width"}[i%2], size, limit, tensor.ErrShape)
		}
	}
	return nil
}

// blockFloats of the output outweigh the start of a block.
const blockFloats = 16 << 10

// blockRows is the number of rows in a block.
func (j *job) blockRows() int { return max(1, blockFloats/max(1, j.W*j.C)) }

func (c *CPU) runBlock(_, block int) {
	rows := c.job.blockRows()
	for row := block * rows; row < min((block+1)*rows, c.job.T*c.job.H); row++ {
		c.normalizeRow(row)
	}
}

// normalizeRow writes one row of a picture, all pictures counted.
func (c *CPU) normalizeRow(at int) {
	j := &c.job
	t, row := at/j.H, at%j.H
	height, width := j.H, j.W
	if j.sizes != nil {
		height, width = int(j.sizes[2*t]), int(j.sizes[2*t+1])
	}
	out := j.x[at*j.W*j.C:][:j.W*j.C]
	if row >= height {
		clear(out)
		return
	}
	clear(out[width*j.C:])
	c.level.Normalize(out[:width*j.C], j.pixels[at*j.W*3:][:width*3], &simd.Normalization{
		Mean: j.Mean, Scale: j.Scale, Channels: j.C, Mirrored: j.flips != nil && j.flips[t] != 0,
	})
}
