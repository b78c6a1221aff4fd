package tensor

import (
	"errors"
	"fmt"

	dense "gorgonia.org/tensor"
)

// CPU is host memory as a Device, with the worker pool that the operations of the CPU share.
type CPU struct {
	Workers *Workers
	// LinearWeights is the type of the weights of linear layers: Float32, or BFloat16 to multiply in it.
	LinearWeights DType

	label  string
	closed bool
}

// NewCPU makes the host's device. threads works as in newWorkers. label is the result of Name.
func NewCPU(threads int, label string) *CPU {
	return &CPU{Workers: newWorkers(threads), label: label}
}

// Name implements Device: the instructions, the threads, and the precision if it is not float32.
func (c *CPU) Name() string {
	name := fmt.Sprintf("cpu %s, %d threads", c.label, c.Workers.Threads())
	if p := c.Precision(); p != FP32 {
		name += ", " + string(p)
	}
	return name
}

// Precision implements Device.
func (c *CPU) Precision() Precision {
	if c.LinearWeights == BFloat16 {
		return BF16
	}
	return FP32
}

// Formats implements Device.
func (c *CPU) Formats() Formats {
	return Formats{Maps: Float32, Linear: c.LinearWeights, Pixels: FP32.Formats().Pixels}
}

// Alloc implements Device.
func (c *CPU) Alloc(dtype DType, shape ...int) (*Tensor, error) {
	if c.closed {
		return nil, errors.New("tensor: the device is closed")
	}
	size, err := Elements(shape)
	if err != nil {
		return nil, err
	}
	switch dtype {
	case Float32:
		return OfFloat32s(make([]float32, size), shape...)
	case Int32:
		return OfInt32s(make([]int32, size), shape...)
	case Uint8:
		return OfUint8s(make([]uint8, size), shape...)
	case BFloat16:
		return OfBFloat16s(make([]uint16, size), shape...)
	}
	return nil, fmt.Errorf("tensor: the CPU holds no %s: %w", dtype, ErrShape)
}

// Free implements Device: the garbage collector takes the memory when no view is left.
func (c *CPU) Free(t *Tensor) error {
	t.float32s, t.int32s, t.uint8s, t.uint16s = nil, nil, nil, nil
	return nil
}

// Upload implements Device.
func (c *CPU) Upload(dst *Tensor, src *dense.Dense) error {
	if src.RequiresIterator() || src.DataOrder().IsColMajor() {
		return fmt.Errorf("upload: host array %v is a view that is not row-major without gaps, materialize it: %w",
			src.Shape(), ErrShape)
	}
	switch {
	case dst.float32s != nil && src.Dtype() == dense.Float32 && src.DataSize() == dst.size:
		copy(dst.float32s, src.Float32s())
	case dst.int32s != nil && src.Dtype() == dense.Int32 && src.DataSize() == dst.size:
		copy(dst.int32s, src.Int32s())
	case dst.uint8s != nil && src.Dtype() == dense.Uint8 && src.DataSize() == dst.size:
		copy(dst.uint8s, src.Uint8s())
	case dst.uint16s != nil && src.Dtype() == dense.Uint16 && src.DataSize() == dst.size:
		copy(dst.uint16s, src.Uint16s())
	case dst.size == 0 && src.DataSize() == 0:
	default:
		return fmt.Errorf("upload: host array %v %v to %s: %w", src.Dtype(), src.Shape(), dst, ErrShape)
	}
	return nil
}

// Download implements Device.
func (c *CPU) Download(dst *dense.Dense, src *Tensor) error {
	if dst.RequiresIterator() || dst.DataOrder().IsColMajor() {
		return fmt.Errorf("download: host array %v is a view that is not row-major without gaps: %w", dst.Shape(), ErrShape)
	}
	switch {
	case src.float32s != nil && dst.Dtype() == dense.Float32 && dst.DataSize() == src.size:
		copy(dst.Float32s(), src.float32s)
	case src.int32s != nil && dst.Dtype() == dense.Int32 && dst.DataSize() == src.size:
		copy(dst.Int32s(), src.int32s)
	case src.uint8s != nil && dst.Dtype() == dense.Uint8 && dst.DataSize() == src.size:
		copy(dst.Uint8s(), src.uint8s)
	case src.uint16s != nil && dst.Dtype() == dense.Uint16 && dst.DataSize() == src.size:
		copy(dst.Uint16s(), src.uint16s)
	case src.size == 0 && dst.DataSize() == 0:
	default:
		return fmt.Errorf("download: %s to host array %v %v: %w", src, dst.Dtype(), dst.Shape(), ErrShape)
	}
	return nil
}

// Sync implements Device: operations of the CPU have ended when they return.
func (c *CPU) Sync() error { return nil }

// Close implements Device.
func (c *CPU) Close() error {
	c.closed = true
	c.Workers.Close()
	return nil
}
