//go:build cuda

package transformer

import (
	"errors"

	"nmn/cuda"
	"nmn/kernels/conv"
	"nmn/kernels/tensor"
)

// Linear implements Ops: a 1×1 convolution with its bias, and a separate pass for the steps after it.
func (c *CUDA) Linear(y, x, w, b *tensor.Tensor, p LinearParams) error {
	const operation = "linear"
	l, err := FitLinear(y, x, w, b, p)
	if err != nil {
		return err
	}
	_, err = ready(operation, []*tensor.Tensor{y, x, w, p.Residual}, []*tensor.Tensor{b, p.Scale}, l.Rows, l.C, l.K)
	if err != nil || y.Len() == 0 {
		return err
	}
	product := y
	if p.Residual != nil && p.Residual.Address() == y.Address() {
		if product, err = c.reserve(&c.products, y.DType(), y.Shape()...); err != nil {
			return err
		}
	}
	if err := c.multiply(product, x, w, b, l); err != nil {
		return err
	}
	if p.GELU == None && p.Scale == nil && p.Residual == nil {
		return nil
	}
	return c.follow(operation, y, product, p.Residual, p.Scale, p.GELU)
}

// PrepareLinear implements Ops: a card reads weights as they are.
func (c *CUDA) PrepareLinear(w *tensor.Tensor) error {
	_, err := FitPrepareLinear(w)
	return err
}

// PatchEmbed implements Ops: patches become rows, which are then multiplied as in a linear layer.
func (c *CUDA) PatchEmbed(y, x, w, b *tensor.Tensor) error {
	s, err := FitPatchEmbed(y, x, w, b)
	if err != nil {
		return err
	}
	l := Layer{Rows: s.N * s.Count(), C: s.P * s.P * s.C, K: s.K}
	dtype, err := ready("patch embedding", []*tensor.Tensor{y, x, w}, []*tensor.Tensor{b}, s.W*s.C, l.Rows, l.C, l.K)
	if err != nil || y.Len() == 0 {
		return err
	}
	rows, err := c.reserve(&c.patches, dtype, l.Rows, l.C)
	if err != nil {
		return err
	}
	grid, block := tensor.Spread(x.Len(), threads), cuda.Dim3{X: threads}
	a := patchRowsArguments{y: tensor.At(rows), x: tensor.At(x), length: int64(x.Len()), width: int32(s.W),
		channels: int32(s.C),
		patch:    int32(s.P)}
	if err := c.rows.patchRows.Launch(c.device.Stream, dtype, grid, block, a); err != nil {
		return err
	}
	return c.multiply(y, rows, w, b, l)
}

// reserve is a tensor in a workspace.
func (c *CUDA) reserve(w *tensor.Workspace, dtype tensor.DType, shape ...int) (*tensor.Tensor, error) {
	size, err := tensor.Elements(shape)
	if err != nil {
		return nil, err
	}
	at, err := w.Reserve(c.device, size*dtype.Size())
	if err != nil {
		return nil, err
	}
	return tensor.OfAddress(uintptr(at), dtype, shape...)
}

// multiply computes y = x·wᵀ + b as a convolution.
func (c *CUDA) multiply(y, x, w, b *tensor.Tensor, l Layer) error {
	y, x, w, err := asConvolution(y, x, w, l)
	if err != nil {
		return err
	}
	return c.conv.Conv(y, x, w, b, conv.Params{})
}

// asConvolution views a product of rows as a 1×1 convolution over maps of one cell.
func asConvolution(y, x, w *tensor.Tensor, l Layer) (mapY, mapX, filter *tensor.Tensor, err error) {
	var errs [3]error
	mapY, errs[0] = y.Reshape(l.Rows, 1, 1, l.K)
	mapX, errs[1] = x.Reshape(l.Rows, 1, 1, l.C)
	filter, errs[2] = w.Reshape(l.K, 1, 1, l.C)
	return mapY, mapX, filter, errors.Join(errs[:]...)
}
