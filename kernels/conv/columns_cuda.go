//go:build cuda

package conv

import (
	"nmn/cuda"
	"nmn/cuda/cudnn"
	"nmn/kernels/tensor"
)

const columnThreads = 256 // of a block

// columnsOf returns the product that computes a data gradient, as a convolution of 1×1 whose channels are the
// R·S·C columns. ok is false if a plan computes the gradient itself.
func (c *CUDA) columnsOf(s cudnn.Conv) (product cudnn.Conv, ok bool) {
	g := geometryOf(s)
	product = cudnn.Conv{N: g.N, H: g.P, W: g.Q, C: g.R * g.S * g.C, K: g.K, R: 1, S: 1, Precision: s.Precision}
	return product, g.ByColumns() && g.N*g.P*g.Q*product.C <= c.most
}

// runDataGradient computes the data gradient to o.X.
func (c *CUDA) runDataGradient(s cudnn.Conv, o cudnn.Operands) error {
	product, ok := c.columnsOf(s)
	if !ok {
		return c.cudnn.Run(cudnn.DataGradient, s, o)
	}
	half := s.Precision == cudnn.BFloat16
	size := tensor.Float32.Size()
	if half {
		size = tensor.BFloat16.Size()
	}
	at, err := c.unfolded.Reserve(c.device, product.N*product.H*product.W*product.C*size)
	if err != nil {
		return err
	}
	if err := c.cudnn.Run(cudnn.DataGradient, product, cudnn.Operands{X: at, W: o.W, Y: o.Y}); err != nil {
		return err
	}
	a := gatherColumnsArguments{
		dx: o.X, columns: at, cells: int64(s.N * s.H * s.W), h: int32(s.H), w: int32(s.W), channels: int32(s.C),
		p: int32(product.H), q: int32(product.W), r: int32(s.R), s: int32(s.S), pad: int32(s.Pad),
	}
	grid, block := tensor.Spread(s.N*s.H*s.W*s.C*size/16, columnThreads), cuda.Dim3{X: columnThreads}
	if half {
		return c.columnSums.launchGatherColumnsBf16(c.device.Stream, grid, block, gatherColumnsBf16Arguments(a))
	}
	return c.columnSums.launchGatherColumns(c.device.Stream, grid, block, a)
}
