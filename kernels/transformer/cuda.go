//go:build cuda

package transformer

import (
	"errors"

	"nmn/kernels/tensor"
)

// CUDA is the family on a graphics card, which does not have it yet.
type CUDA struct{}

var _ Ops = (*CUDA)(nil)

var errCard = errors.New("transformers are not computed on graphics cards yet (choose the CPU)")

// LayerNorm implements Ops.
func (*CUDA) LayerNorm(_, _, _, _ *tensor.Tensor, _ float32) error { return errCard }

// GELU implements Ops.
func (*CUDA) GELU(_, _ *tensor.Tensor, _ GELUKind) error { return errCard }

// Attention implements Ops.
func (*CUDA) Attention(_, _ *tensor.Tensor, _ int) error { return errCard }

// Linear implements Ops.
func (*CUDA) Linear(_, _, _, _ *tensor.Tensor, _ LinearParams) error { return errCard }

// AddScaled implements Ops.
func (*CUDA) AddScaled(_, _, _, _ *tensor.Tensor) error { return errCard }

// Tokens implements Ops.
func (*CUDA) Tokens(_, _, _, _ *tensor.Tensor) error { return errCard }

// PatchEmbed implements Ops.
func (*CUDA) PatchEmbed(_, _, _, _ *tensor.Tensor) error { return errCard }

// PrepareLinear implements Ops.
func (*CUDA) PrepareLinear(_ *tensor.Tensor) error { return errCard }
