//go:build cuda

package noise

import (
	"fmt"

	"nmn/kernels/tensor"
)

// NoisyOR implements Ops.
func (c *CUDA) NoisyOR(p, o, bags *tensor.Tensor) error {
	const operation = "noisy-or"
	g, err := fitNoisyOR(operation, nil, p, o, bags)
	if err != nil {
		return err
	}
	return c.pool(operation, g, bags, p, nil, nil, o)
}

// NoisyORGrad implements Ops. do must not be the memory of o.
func (c *CUDA) NoisyORGrad(do, dp, o, bags *tensor.Tensor) error {
	const operation = "gradient of noisy-or"
	if do == nil {
		return fmt.Errorf("%s: no destination: %w", operation, tensor.ErrShape)
	}
	g, err := fitNoisyOR(operation, do, dp, o, bags)
	if err != nil {
		return err
	}
	if do.Address() == o.Address() {
		return fmt.Errorf("%s: the gradient must not overwrite the logits: %w", operation, tensor.ErrShape)
	}
	return c.pool(operation, g, bags, nil, do, dp, o)
}

// pool launches either: p, or do by dp.
func (c *CUDA) pool(operation string, g geometry, bags, p, do, dp, o *tensor.Tensor) error {
	if err := firstError(tensor.OnDevice(operation, tensor.Float32, p, do, dp, o),
		tensor.OnDevice(operation, tensor.Int32, bags), g.fits(operation)); err != nil {
		return err
	}
	b := gridOf(g, rowsAligned(g.K, o, do))
	a := noisyOrArguments{
		p: tensor.At(p), gradient: tensor.At(do), dp: tensor.At(dp), o: tensor.At(o), offsets: tensor.At(bags),
		bags: int32(g.N), frames: int32(g.T), cells: int32(g.Cells()), classes: int32(g.K),
	}
	if b.wide {
		return c.mil.noisyOrWide.Launch(c.device.Stream, b.grid, b.block, a)
	}
	return c.mil.noisyOr.Launch(c.device.Stream, b.grid, b.block, a)
}
