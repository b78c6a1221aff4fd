package recurrent

import (
	"fmt"

	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// CPU implements Ops on the host in float32.
type CPU struct {
	workers *tensor.Workers
	level   simd.Level

	carried []float32 // gradients on their way from step to step
	logits  []float32
}

var _ Ops = (*CPU)(nil)

// NewCPU makes the family on the host's device; level comes from simd.Detect or simd.Select.
func NewCPU(dev *tensor.CPU, level simd.Level) *CPU {
	return &CPU{workers: dev.Workers, level: level}
}

// grow returns a slice of length n, the old memory where it suffices. Its contents are undefined.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// onHost checks that tensors are in host memory; nil tensors are skipped.
func onHost(operation string, tensors ...*tensor.Tensor) error {
	for _, t := range tensors {
		if t != nil && t.Len() > 0 && t.Float32s() == nil && t.Int32s() == nil {
			return fmt.Errorf("%s: %s is not in host memory: %w", operation, t, tensor.ErrShape)
		}
	}
	return nil
}

// known checks that no word is beyond a vocabulary.
func known(operation string, words []int32, vocabulary int) error {
	for m, word := range words {
		if int(word) >= vocabulary {
			return fmt.Errorf("%s: row %d has word %d of a vocabulary of %d (words are 0 to %d, negative for none): %w",
				operation, m, word, vocabulary, vocabulary-1, ErrWord)
		}
	}
	return nil
}

// list is the memory of a tensor, nil for none.
func list(t *tensor.Tensor) []float32 {
	if t == nil {
		return nil
	}
	return t.Float32s()
}

// Add implements Ops.
func (c *CPU) Add(dst, src *tensor.Tensor) error {
	if err := FitAdd(dst, src); err != nil {
		return err
	}
	if err := onHost("add", dst, src); err != nil {
		return err
	}
	c.level.Add(dst.Float32s(), src.Float32s())
	return nil
}
