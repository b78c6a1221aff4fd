package pixels

import (
	"errors"
	"fmt"

	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// ErrParams is wrapped by errors about means and scales that are not finite.
var ErrParams = errors.New("constant out of range")

// CPU implements Ops on the host in float32. A block is a row of a picture. Beyond the contract it
// checks that sizes lie within the pictures.
type CPU struct {
	workers *tensor.Workers
	table   [3][256]float32 // normalised value of each channel and pixel
	params  Params          // those of the table
	job     job

	block func(worker, block int) // made once: converting a method for each call would allocate
}

// job is what the blocks read; sizes and flips are nil where all is valid and nothing mirrored.
type job struct {
	Geometry
	x      []float32
	pixels []uint8
	sizes  []int32
	flips  []uint8
}

// NewCPU makes the family on the host's device. It computes in Go at every level of vector
// instructions.
func NewCPU(dev *tensor.CPU, _ simd.Level) *CPU {
	c := &CPU{workers: dev.Workers}
	c.block = c.runBlock
	return c
}

// Normalize implements Ops.
func (c *CPU) Normalize(x, pixels, sizes, flips *tensor.Tensor, p Params) error {
	g, err := Fit(x, pixels, sizes, flips, p)
	if err != nil {
		return err
	}
	j := job{Geometry: g, x: x.Float32s(), pixels: pixels.Uint8s()}
	if sizes != nil {
		j.sizes = sizes.Int32s()
	}
	if flips != nil {
		j.flips = flips.Uint8s()
	}
	if j.x == nil || j.pixels == nil || sizes != nil && j.sizes == nil || flips != nil && j.flips == nil {
		return fmt.Errorf("normalize: output %s and its sources are not all in host memory: %w", x, tensor.ErrShape)
	}
	if err := j.checkSizes(); err != nil {
		return err
	}
	c.tabulate(p)
	c.job = j
	c.workers.Run(g.T*g.H, c.block)
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

// tabulate computes the table unless it is that of the last call.
func (c *CPU) tabulate(p Params) {
	if p == c.params {
		return
	}
	for channel := range c.table {
		for v := range c.table[channel] {
			c.table[channel][v] = (float32(v) - p.Mean[channel]) * p.Scale[channel]
		}
	}
	c.params = p
}

func (c *CPU) runBlock(_, block int) {
	j := &c.job
	t, row := block/j.H, block%j.H
	height, width := j.H, j.W
	if j.sizes != nil {
		height, width = int(j.sizes[2*t]), int(j.sizes[2*t+1])
	}
	out := j.x[block*j.W*j.C:][:j.W*j.C]
	if row >= height {
		clear(out)
		return
	}
	in := j.pixels[block*j.W*3:][:width*3]
	clear(out[width*j.C:])
	if j.flips != nil && j.flips[t] != 0 {
		c.mirror(out[:width*j.C], in, j.C)
		return
	}
	c.convert(out[:width*j.C], in, j.C)
}

// convert normalises pixels, three channels each, to out, channels channels each.
func (c *CPU) convert(out []float32, in []uint8, channels int) {
	for ; len(in) >= 3; in, out = in[3:], out[channels:] {
		c.pixel(out[:channels], in)
	}
}

// mirror is convert from right to left.
func (c *CPU) mirror(out []float32, in []uint8, channels int) {
	for ; len(in) >= 3; in, out = in[:len(in)-3], out[channels:] {
		c.pixel(out[:channels], in[len(in)-3:])
	}
}

func (c *CPU) pixel(out []float32, in []uint8) {
	_, _ = out[2], in[2]
	out[0], out[1], out[2] = c.table[0][in[0]], c.table[1][in[1]], c.table[2][in[2]]
	clear(out[3:])
}
