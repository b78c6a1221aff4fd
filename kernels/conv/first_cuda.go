//go:build cuda

package conv

import (
	"nmn/cuda"
	"nmn/cuda/cudnn"
	"nmn/kernels/tensor"
)

// The constants of first.cu, and its grid: two blocks on each of 132 multiprocessors, which take all tiles in turn.
const (
	firstThreads = 256
	firstRows    = firstThreads / 32
	firstColumns = 64
	firstBlocks  = 2 * 132

	firstFilterThreads = 256
	firstFilterRows    = 4
	firstFilterColumns = 32
)

// firstFilters is how many filters a block of first.cu computes.
const firstFilters = 64

// likeFirst reports whether nmn has kernels for a convolution in bfloat16 with a bias, and for its filter gradient: one
// like the first of a net, from pictures that were padded to 8 channels.
func (g Geometry) likeFirst() bool {
	return g.C == 8 && g.K%firstFilters == 0 && g.R == 3 && g.S == 3 && g.Pad == 1 && g.Stride == 1
}

// firstConv computes y by first.cu. As y has at most mostElements, an int32 counts its tiles.
func (c *CUDA) firstConv(s cudnn.Conv, o cudnn.Operands, relu bool) error {
	tiles := s.N * tensor.Ceil(s.H, firstRows) * tensor.Ceil(s.W, firstColumns)
	grid := cuda.Dim3{X: min(tiles, firstBlocks), Y: s.K / firstFilters}
	return c.first.firstConvBf16.Launch(c.device.Stream, grid, cuda.Dim3{X: firstThreads}, firstConvBf16Arguments{
		y: o.Y, x: o.X, w: o.W, bias: o.Bias, tiles: int32(tiles), height: int32(s.H), width: int32(s.W),
		channels: int32(s.K), relu: tensor.Flag(relu),
	})
}

// firstFilter is the kernel of first.cu that computes a filter gradient in float32. The sums of its blocks are
// added by the kernel of the bias gradient.
func (c *CUDA) firstFilter(s cudnn.Conv) cudnn.Kernel {
	tiles := s.N * tensor.Ceil(s.H, firstFilterRows) * tensor.Ceil(s.W, firstFilterColumns)
	grid := cuda.Dim3{X: min(tiles, firstBlocks), Y: s.K / firstFilters}
	numbers := s.K * s.R * s.S * s.C
	run := func(o cudnn.Operands, scratch cuda.Address) error {
		partial, err := tensor.OfAddress(uintptr(scratch), tensor.Float32, grid.X, 1, 1, numbers)
		if err != nil {
			return err
		}
		dw, err := tensor.OfAddress(uintptr(o.W), tensor.Float32, numbers)
		if err != nil {
			return err
		}
		err = c.first.firstFilterBf16.Launch(c.device.Stream, grid, cuda.Dim3{X: firstFilterThreads},
			firstFilterBf16Arguments{partial: scratch, x: o.X, dy: o.Y, tiles: int32(tiles), height: int32(s.H),
				width: int32(s.W), channels: int32(s.K)})
		if err != nil {
			return err
		}
		return c.ConvGradBias(dw, partial, Params{})
	}
	return cudnn.Kernel{Name: "first_filter", Workspace: grid.X * numbers * tensor.Float32.Size(), Run: run}
}
