//go:build cuda

package update

import (
	"cmp"
	"fmt"

	"nmn/kernels/tensor"
)

// GradNorm implements Ops. Squares are summed in float64, in an order that lengths alone decide.
func (c *CUDA) GradNorm(norm *tensor.Tensor, entries []Entry) error {
	const operation = "gradient norm"
	if err := cmp.Or(fitNorm(operation, norm), tensor.OnDevice(operation, tensor.Float32, norm)); err != nil {
		return err
	}
	table, err := c.list(operation, entries, UseG)
	if err != nil {
		return err
	}
	partial, err := c.partial.Reserve(c.device, 8*max(c.chunks, 1))
	if err != nil {
		return err
	}
	ticket, err := c.ticket.Reserve(c.device, 4)
	if err != nil {
		return err
	}
	return launch(c, &c.norm.gradientNorm, gradientNormArguments{
		norm: tensor.At(norm), entries: table, count: int32(len(c.next)), chunks: int32(c.chunks), partial: partial,
		ticket: ticket,
	})
}

// Clip implements Ops. Gradients stay unchanged if the norm is NaN. With an infinite norm the finite ones
// become 0.
func (c *CUDA) Clip(entries []Entry, norm *tensor.Tensor, limit float32) error {
	const operation = "clip"
	if err := cmp.Or(fitClip(norm, limit), tensor.OnDevice(operation, tensor.Float32, norm)); err != nil {
		return err
	}
	table, err := c.list(operation, entries, UseG)
	if err != nil || c.chunks == 0 {
		return err
	}
	return launch(c, &c.norm.clip, clipArguments{
		entries: table, count: int32(len(c.next)), norm: tensor.At(norm), limit: limit,
	})
}

// Zero implements Ops, for any type of element.
func (c *CUDA) Zero(t *tensor.Tensor) error {
	if t == nil {
		return fmt.Errorf("zero: no tensor: %w", tensor.ErrShape)
	}
	if err := tensor.OnDevice("zero", t.DType(), t); err != nil {
		return err
	}
	return c.device.Stream.Zero(tensor.At(t), t.Bytes())
}
