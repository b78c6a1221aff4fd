package tensor

import (
	"cmp"
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

func (c *CPU) Precision() Precision {
	if c.LinearWeights == BFloat16 {
		return BF16
	}
	return FP32
}

func (c *CPU) Formats() Formats {
	return Formats{Maps: Float32, Linear: c.LinearWeights, Pixels: FP32.Formats().Pixels}
}

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
	t.host = nil
	return nil
}

func (c *CPU) Upload(dst *Tensor, src *dense.Dense) error {
	bytes, err := hostBytes("upload", src, dst)
	if err := cmp.Or(err, OnHost("upload", dst.dtype, dst)); err != nil {
		return err
	}
	copy(dst.host, bytes)
	return nil
}

func (c *CPU) Download(dst *dense.Dense, src *Tensor) error {
	bytes, err := hostBytes("download", dst, src)
	if err := cmp.Or(err, OnHost("download", src.dtype, src)); err != nil {
		return err
	}
	copy(bytes, src.host)
	return nil
}

// Sync implements Device: operations of the CPU have ended when they return.
func (c *CPU) Sync() error { return nil }

func (c *CPU) Close() error {
	c.closed = true
	c.Workers.Close()
	return nil
}
