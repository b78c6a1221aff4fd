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
)

// firstConv computes y by first.cu. As y has at most mostElements, an int32 counts its tiles.
func (c *CUDA) firstConv(s cudnn.Conv, o cudnn.Operands, relu bool) error {
	tiles := s.N * tensor.Ceil(s.H, firstRows) * tensor.Ceil(s.W, firstColumns)
	grid := cuda.Dim3{X: min(tiles, firstBlocks), Y: s.K / firstFilters}
	return c.first.launchFirstConvBf16(c.device.Stream, grid, cuda.Dim3{X: firstThreads}, firstConvBf16Arguments{
		y: o.Y, x: o.X, w: o.W, bias: o.Bias, tiles: int32(tiles), height: int32(s.H), width: int32(s.W),
		channels: int32(s.K), relu: number(relu),
	})
}
