//go:build cuda

package tensor

import (
	"cmp"
	"errors"
	"fmt"

	dense "gorgonia.org/tensor"

	"nmn/cuda"
)

// CUDA is the memory of a graphics card as a Device. All of its work is on one stream.
type CUDA struct {
	Device    *cuda.Device
	Stream    *cuda.Stream
	precision Precision
}

// NewCUDA opens the graphics card of a number to compute in a precision. Errors are those in cuda.Open, and
// ErrPrecision.
func NewCUDA(ordinal int, options cuda.Options, p Precision) (*CUDA, error) {
	device, err := cuda.Open(ordinal, options)
	if err != nil {
		return nil, err
	}
	info := device.Info()
	if p, err = p.OnCard(10*info.Major + info.Minor); err != nil {
		return nil, errors.Join(fmt.Errorf("tensor: %s: %w", info, err), device.Close())
	}
	return &CUDA{Device: device, Stream: device.Compute(), precision: p}, nil
}

// Name implements Device: the card and the precision.
func (c *CUDA) Name() string { return fmt.Sprintf("%s, %s", c.Device.Info(), c.precision) }

func (c *CUDA) Precision() Precision { return c.precision }

func (c *CUDA) Formats() Formats { return c.precision.Formats() }

// Alloc implements Device. Memory that does not fit is a cuda.OutOfMemoryError.
func (c *CUDA) Alloc(dtype DType, shape ...int) (*Tensor, error) {
	size, err := Elements(shape)
	if err != nil {
		return nil, err
	}
	address, err := c.Device.Alloc(size * dtype.Size())
	if err != nil {
		return nil, fmt.Errorf("tensor: %s %s: %w", dtype, Format(shape), err)
	}
	return OfAddress(uintptr(address), dtype, shape...)
}

func (c *CUDA) Free(t *Tensor) error {
	address := cuda.Address(t.address)
	t.address = 0
	return c.Device.Free(address)
}

func (c *CUDA) Upload(dst *Tensor, src *dense.Dense) error {
	bytes, err := hostBytes("upload", src, dst)
	if err := cmp.Or(err, OnDevice("upload", dst.dtype, dst)); err != nil {
		return err
	}
	return c.Stream.Upload(cuda.Address(dst.address), bytes)
}

func (c *CUDA) Download(dst *dense.Dense, src *Tensor) error {
	bytes, err := hostBytes("download", dst, src)
	if err := cmp.Or(err, OnDevice("download", src.dtype, src)); err != nil {
		return err
	}
	return c.Stream.Download(bytes, cuda.Address(src.address))
}

func (c *CUDA) Copy(dst, src *Tensor) error {
	if err := errors.Join(fitCopy(dst, src), OnDevice("copy", src.dtype, dst, src)); err != nil {
		return err
	}
	return c.Stream.Copy(cuda.Address(dst.address), cuda.Address(src.address), dst.Bytes())
}

func (c *CUDA) Sync() error { return c.Device.Sync() }

func (c *CUDA) Close() error { return c.Device.Close() }
