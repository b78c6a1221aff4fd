//go:build cuda

package pool

import (
	"fmt"

	"nmn/kernels/tensor"
)

// MaxPool3 implements Ops.
func (c *CUDA) MaxPool3(y, _ *tensor.Tensor) error {
	return fmt.Errorf("3×3 max pooling: %s: not on a card: %w", y, tensor.ErrShape)
}

// MaxPool3Grad implements Ops.
func (c *CUDA) MaxPool3Grad(dx, _, _, _ *tensor.Tensor, _ bool) error {
	return fmt.Errorf("gradient of 3×3 max pooling: %s: not on a card: %w", dx, tensor.ErrShape)
}

// MaxPool3GradBias implements Ops.
func (c *CUDA) MaxPool3GradBias(dx, _, _, _, _ *tensor.Tensor, _ MaxGradParams) error {
	return fmt.Errorf("gradient of 3×3 max pooling and bias: %s: not on a card: %w", dx, tensor.ErrShape)
}
