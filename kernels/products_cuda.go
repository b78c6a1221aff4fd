//go:build cuda

package kernels

import (
	"nmn/cuda/cudnn"
	"nmn/kernels/conv"
	"nmn/kernels/pool"
	"nmn/kernels/product"
	"nmn/kernels/tensor"
)

// If the host has cuBLASLt, the faster library computes 1×1 convolutions of float32 as products. All others
// are convolutions, and so are those with a mask or ReLU or that accumulate.

func (b *card) ProductsBy() map[string]int { return b.products.Count() }

// rowsOf counts the rows of a 1×1 convolution that is a product, 0 for one that is none.
func (b *card) rowsOf(operation string, x, w, y *tensor.Tensor, p conv.Params) int {
	if p.Stride == 1 {
		p.Stride = 0
	}
	if !b.products.Has(product.CuBLASLt) || p != (conv.Params{}) {
		return 0
	}
	g, err := conv.Fit(operation, x, w, y, p)
	if err != nil || g.R != 1 || g.S != 1 || x.Len() == 0 || w.Len() == 0 {
		return 0
	}
	for _, t := range []*tensor.Tensor{x, w, y} {
		if t.DType() != tensor.Float32 || t.Address() == 0 || t.Address()%16 != 0 {
			return 0
		}
	}
	return g.N * g.H * g.W
}

func (b *card) Conv(y, x, w, bias *tensor.Tensor, p conv.Params) error {
	rows := b.rowsOf("conv", x, w, y, p)
	pass := cudnn.Forward
	if bias != nil {
		pass = cudnn.ForwardBias
		if bias.DType() != tensor.Float32 || bias.Rank() != 1 || bias.Len() != y.Dim(y.Rank()-1) || bias.Address() == 0 ||
			bias.Address()%16 != 0 {
			rows = 0
		}
	}
	if rows == 0 {
		return b.cardConvolutions.Conv(y, x, w, bias, p)
	}
	return b.products.Run(pass, rows, w.Dim(3), w.Dim(0),
		cudnn.Operands{X: tensor.At(x), W: tensor.At(w), Y: tensor.At(y), Bias: tensor.At(bias)})
}

func (b *card) ConvGradData(dx, dy, w, mask *tensor.Tensor, p conv.Params) error {
	rows := b.rowsOf("conv data gradient", dx, w, dy, p)
	if rows == 0 || mask != nil {
		return b.cardConvolutions.ConvGradData(dx, dy, w, mask, p)
	}
	return b.products.Run(cudnn.DataGradient, rows, w.Dim(3), w.Dim(0),
		cudnn.Operands{X: tensor.At(dx), W: tensor.At(w), Y: tensor.At(dy)})
}

func (b *card) ConvGradFilter(dw, x, dy *tensor.Tensor, p conv.Params) error {
	rows := b.rowsOf("conv filter gradient", x, dw, dy, p)
	if rows == 0 {
		return b.cardConvolutions.ConvGradFilter(dw, x, dy, p)
	}
	return b.products.Run(cudnn.FilterGradient, rows, dw.Dim(3), dw.Dim(0),
		cudnn.Operands{X: tensor.At(x), W: tensor.At(dw), Y: tensor.At(dy)})
}

func (b *card) MaxPool3GradBias(dx, db, dy, x, y *tensor.Tensor, p pool.MaxGradParams) error {
	const operation = "gradient of 3×3 max pooling and bias"
	if err := tensor.OnDevice(operation, tensor.Float32, db); err != nil {
		return err
	}
	return poolAndBias(operation, b.MaxPool3Grad, b, dx, db, dy, x, y, p)
}
