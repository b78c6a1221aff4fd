//go:build cuda

package recurrent

import (
	"errors"
	"fmt"

	"nmn/kernels/tensor"
)

// CUDA refuses Ops: they are for the host so far.
type CUDA struct{}

var _ Ops = (*CUDA)(nil)

func hostOnly(operation string) error {
	return fmt.Errorf("%s: a graphics card does not have it, use --device cpu: %w", operation, errors.ErrUnsupported)
}

// LSTM implements Ops.
func (*CUDA) LSTM(_, _, _, _, _, _ *tensor.Tensor) error { return hostOnly("lstm") }

// LSTMGrad implements Ops.
func (*CUDA) LSTMGrad(_, _, _, _, _, _, _, _ *tensor.Tensor) error { return hostOnly("lstm gradient") }

// Embed implements Ops.
func (*CUDA) Embed(_, _, _ *tensor.Tensor) error { return hostOnly("embedding") }

// EmbedGrad implements Ops.
func (*CUDA) EmbedGrad(_, _, _ *tensor.Tensor) error { return hostOnly("embedding gradient") }

// CrossEntropy implements Ops.
func (*CUDA) CrossEntropy(_, _, _, _, _, _, _, _ *tensor.Tensor, _ float32) error {
	return hostOnly("softmax cross-entropy")
}

// LogSoftmax implements Ops.
func (*CUDA) LogSoftmax(*tensor.Tensor) error { return hostOnly("log-softmax") }

// Add implements Ops.
func (*CUDA) Add(_, _ *tensor.Tensor) error { return hostOnly("add") }
