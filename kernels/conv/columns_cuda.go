//go:build cuda

package conv

import (
	"nmn/cuda"
	"nmn/cuda/cudnn"
	"nmn/kernels/tensor"
)

const columnThreads = 256 // of a block

// byColumns reports whether a card computes the data gradient of a convolution as a product dy·w, of N·P·Q by
// R·S·C numbers, and a sum over the windows that hold a cell. A plan for the convolution computes each cell
// of the input from all R·S cells of a padded output. Most of them are padding if the output is much smaller
// than the input: fc6 of VGG16 over 18×18 cells has 2.25 times the work. The columns have to be written and
// read, which pays only with many filters.
func (g Geometry) byColumns() bool {
	return g.Stride == 1 && 2*g.P*g.Q <= g.H*g.W && g.K >= 512 && g.C%8 == 0 && g.K%8 == 0
}

// columnsOf returns the product that computes a data gradient, as a convolution of 1×1 whose channels are the
// R·S·C columns. ok is false if a plan computes the gradient itself.
func (c *CUDA) columnsOf(s cudnn.Conv) (product cudnn.Conv, ok bool) {
	g := geometryOf(s)
	product = cudnn.Conv{N: g.N, H: g.P, W: g.Q, C: g.R * g.S * g.C, K: g.K, R: 1, S: 1, Precision: s.Precision}
	return product, g.byColumns() && g.N*g.P*g.Q*product.C <= c.most
}

// runDataGradient computes the data gradient to o.X.
func (c *CUDA) runDataGradient(s cudnn.Conv, o cudnn.Operands) error {
	product, ok := c.columnsOf(s)
	if !ok {
		return c.cudnn.Run(cudnn.DataGradient, s, o)
	}
	dtype := tensor.Float32
	if s.Precision == cudnn.BFloat16 {
		dtype = tensor.BFloat16
	}
	size := dtype.Size()
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
	return c.columnSums.gatherColumns.Launch(c.device.Stream, dtype, grid, block, a)
}

// columnsKernel is the name of a forward pass that is a product of unfolded windows.
const columnsKernel = "by columns"

// mostUnfolded is the maximum memory for the windows of a forward pass, in bytes.
const mostUnfolded = 512 << 20

// unfoldedOf returns the product that computes a forward pass in bfloat16 with a narrow bias, as columnsOf does for
// the data gradient. cuDNN has other engines for it.
func (c *CUDA) unfoldedOf(s cudnn.Conv) (product cudnn.Conv, ok bool) {
	product, ok = c.columnsOf(s)
	product.NarrowBias = true
	return product, ok && s.Pad == 0 && s.N*s.P()*s.Q()*product.C*tensor.BFloat16.Size() <= mostUnfolded
}

// includeUnfolded has the forward pass by columns measured together with cuDNN's plans of a shape.
func (c *CUDA) includeUnfolded(pass cudnn.Pass, s cudnn.Conv) {
	product, ok := c.unfoldedOf(s)
	if !ok {
		return
	}
	run := func(o cudnn.Operands, _ cuda.Address) error {
		windows, groups := product.N*product.H*product.W, s.C*tensor.BFloat16.Size()/16
		at, err := c.unfolded.Reserve(c.device, windows*product.C*tensor.BFloat16.Size())
		if err != nil {
			return err
		}
		err = c.columnSums.unfold.Launch(c.device.Stream, cuda.Dim3{X: windows}, cuda.Dim3{X: columnThreads},
			unfoldArguments{columns: at, x: o.X, h: int32(s.H), w: int32(s.W), wide: int32(groups), p: int32(product.H),
				q: int32(product.W), r: int32(s.R), run: int32(s.S * groups)})
		if err != nil {
			return err
		}
		o.X = at
		return c.cudnn.Run(pass, product, o)
	}
	c.cudnn.Include(pass, s, cudnn.Kernel{Name: columnsKernel, Run: run})
}
