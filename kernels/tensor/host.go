package tensor

import "fmt"

// OnHost checks that tensors are in host memory and of an element type. nil tensors and empty ones are skipped.
func OnHost(operation string, dtype DType, tensors ...*Tensor) error {
	for _, t := range tensors {
		if t != nil && t.size > 0 && (t.dtype != dtype || t.float32s == nil && t.int32s == nil && t.uint8s == nil &&
			t.uint16s == nil) {
			return fmt.Errorf("%s: %s is not %s in host memory: %w", operation, t, dtype, ErrShape)
		}
	}
	return nil
}

// Ceil is a/b, rounded up.
func Ceil(a, b int) int { return (a + b - 1) / b }

// CeilTo is a rounded up to a multiple of b.
func CeilTo(a, b int) int { return Ceil(a, b) * b }

// Grow returns a slice of length n, in the old memory if it suffices. Its contents are undefined.
func Grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
