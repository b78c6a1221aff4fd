//go:build cuda

package pool

import (
	"fmt"

	"nmn/kernels/tensor"
)

func errNoOverlap() error {
	return fmt.Errorf("3×3 max pooling: not on graphics cards: %w", tensor.ErrShape)
}

// MaxPool3 implements Ops.
func (c *CUDA) MaxPool3(_, _ *tensor.Tensor) error { return errNoOverlap() }

// MaxPool3Grad implements Ops.
func (c *CUDA) MaxPool3Grad(_, _, _, _ *tensor.Tensor, _ bool) error { return errNoOverlap() }

// MaxPool3GradBias implements Ops.
func (c *CUDA) MaxPool3GradBias(_, _, _, _, _ *tensor.Tensor, _ MaxGradParams) error {
	return errNoOverlap()
}
