//go:build cuda

package noise

import (
	"nmn/cuda"
	"nmn/kernels/tensor"
)

// BCE implements Ops. do may be the memory of o.
func (c *CUDA) BCE(loss, do, o, z *tensor.Tensor, scale float32) error {
	const operation = "bce"
	n, k, err := fitBCE(loss, do, o, z)
	if err := firstError(err, tensor.OnDevice(operation, tensor.Float32, loss, do, o, z),
		geometry{N: n, T: n, H: 1, W: 1, K: k}.fits(operation)); err != nil {
		return err
	}
	return c.bce.bce.Launch(c.device.Stream, cuda.Dim3{X: n}, cuda.Dim3{X: tensor.PowerOfTwo(k, 32, 256)}, bceArguments{
		loss: tensor.At(loss), gradient: tensor.At(do), o: tensor.At(o), z: tensor.At(z), classes: int32(k), scale: scale,
	})
}
