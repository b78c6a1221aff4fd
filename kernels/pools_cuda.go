//go:build cuda

package kernels

import (
	"nmn/kernels/conv"
	"nmn/kernels/pool"
	"nmn/kernels/tensor"
)

// MaxPool3GradBias implements pool.Ops by two passes. The sums equal ConvGradBias in every bit.
func (b *card) MaxPool3GradBias(dx, db, dy, x, y *tensor.Tensor, p pool.MaxGradParams) error {
	const operation = "gradient of 3×3 max pooling and bias"
	g, err := pool.FitMaxGrad(operation, dx, dy, x, y)
	if err != nil {
		return err
	}
	if err := g.FitChannels(operation, db); err != nil { // before anything is written
		return err
	}
	if err := tensor.OnDevice(operation, tensor.Float32, db); err != nil {
		return err
	}
	if err := b.MaxPool3Grad(dx, dy, x, y, p.ReLU); err != nil {
		return err
	}
	return b.ConvGradBias(db, dx, conv.Params{Accumulate: p.Accumulate})
}
