//go:build cuda

package tensor

import (
	"errors"
	"fmt"
	"reflect"

	"nmn/cuda"
)

// FindKernels finds the kernels of a family in a module: all fields of some structs, by the names in their tags.
func FindKernels(family string, m *cuda.Module, structs ...any) error {
	var errs []error
	for _, s := range structs {
		fields := reflect.ValueOf(s).Elem()
		for i := range fields.NumField() {
			at := fields.Field(i).Addr().UnsafePointer() // Interface is not for fields that are not exported
			kernel := reflect.NewAt(fields.Field(i).Type(), at).Interface().(interface {
				Find(m *cuda.Module, name string) error
			})
			errs = append(errs, kernel.Find(m, fields.Type().Field(i).Tag.Get("kernel")))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%s: %w", family, err)
	}
	return nil
}

// Twins are a kernel for float32 and one for bfloat16, which take the same arguments.
type Twins[A any] struct{ float32, bfloat16 cuda.Kernel[A] }

// Find finds the kernels in a module: that of the name and that with _bf16 after it.
func (t *Twins[A]) Find(m *cuda.Module, name string) error {
	return errors.Join(t.float32.Find(m, name), t.bfloat16.Find(m, name+"_bf16"))
}

// Launch enqueues the kernel for a type of elements on a stream.
func (t *Twins[A]) Launch(s *cuda.Stream, dtype DType, grid, block cuda.Dim3, a A) error {
	if dtype == BFloat16 {
		return t.bfloat16.Launch(s, grid, block, a)
	}
	return t.float32.Launch(s, grid, block, a)
}
