//go:build cuda

package noise

import (
	"nmn/cuda"
	"nmn/kernels/tensor"
)

// exclusiveThreads is the number of threads of a block, a constant of exclusive.cu.
const exclusiveThreads = 128

// exclusiveStep is NoiseStep for checked tensors of classes that exclude each other.
func (c *CUDA) exclusiveStep(out StepOutput, g geometry, logits, transition, labels, bags *tensor.Tensor,
	p StepParams) error {
	work, err := c.work.Reserve(c.device, 4*8*g.N*g.K)
	if err != nil {
		return err
	}
	return c.exclusive.exclusiveStep.Launch(c.device.Stream, cuda.Dim3{X: g.N}, cuda.Dim3{X: exclusiveThreads},
		exclusiveStepArguments{
			logits: tensor.At(logits), transition: tensor.At(transition), labels: tensor.At(labels),
			weights: tensor.At(p.Weights), offsets: tensor.At(bags), loss: tensor.At(out.Loss), dLogits: tensor.At(out.DLogits),
			prob: tensor.At(out.Prob), observed: tensor.At(out.Observed), posterior: tensor.At(out.Posterior),
			bagLogit: tensor.At(out.BagLogit), work: work,
			frames: int32(g.T), cells: int32(g.Cells()), classes: int32(g.K), scale: p.Scale,
		})
}
