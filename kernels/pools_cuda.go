//go:build cuda

package kernels

import (
	"nmn/kernels/pool"
	"nmn/kernels/tensor"
)

// MaxPool3GradBias implements pool.Ops.
func (b *card) MaxPool3GradBias(dx, db, dy, x, y *tensor.Tensor, p pool.MaxGradParams) error {
	const operation = "gradient of 3×3 max pooling and bias"
	if err := tensor.OnDevice(operation, tensor.Float32, db); err != nil {
		return err
	}
	return poolAndBias(operation, b.MaxPool3Grad, b, dx, db, dy, x, y, p)
}
