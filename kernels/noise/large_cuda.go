//go:build cuda

package noise

import (
	"cmp"

	"nmn/cuda"
	"nmn/kernels/tensor"
)

func (c *CUDA) LargeLosses(targets, o, z, count *tensor.Tensor, instead float32) error {
	const operation = "large losses"
	n, k, err := fitLargeLosses(targets, o, z, count)
	if err := cmp.Or(err, tensor.OnDevice(operation, tensor.Float32, targets, o, z), tensor.OnDevice(operation,
		tensor.Int32, count),
		geometry{N: n, T: n * k, H: 1, W: 1, K: k}.fits(operation)); err != nil {
		return err
	}
	return c.large.largeLosses.Launch(c.device.Stream, cuda.Dim3{X: 1}, cuda.Dim3{X: tensor.PowerOfTwo(n*k, 32, 1024)},
		largeLossesArguments{
			targets: tensor.At(targets), o: tensor.At(o), z: tensor.At(z), count: tensor.At(count), labels: int32(n * k),
			instead: instead,
		})
}
