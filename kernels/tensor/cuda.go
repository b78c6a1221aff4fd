//go:build cuda

package tensor

import (
	"errors"
	"fmt"
	"unsafe"

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

// Precision implements Device.
func (c *CUDA) Precision() Precision { return c.precision }

// Formats implements Device.
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

// Free implements Device.
func (c *CUDA) Free(t *Tensor) error {
	address := cuda.Address(t.address)
	t.address = 0
	return c.Device.Free(address)
}

// Upload implements Device.
func (c *CUDA) Upload(dst *Tensor, src *dense.Dense) error {
	bytes, err := hostBytes("upload", src, dst)
	if err != nil {
		return err
	}
	return c.Stream.Upload(cuda.Address(dst.address), bytes)
}

// Download implements Device.
func (c *CUDA) Download(dst *dense.Dense, src *Tensor) error {
	bytes, err := hostBytes("download", dst, src)
	if err != nil {
		return err
	}
	return c.Stream.Download(bytes, cuda.Address(src.address))
}

// Copy implements Device.
func (c *CUDA) Copy(dst, src *Tensor) error {
	if err := errors.Join(fitCopy(dst, src), OnDevice("copy", src.dtype, dst, src)); err != nil {
		return err
	}
	return c.Stream.Copy(cuda.Address(dst.address), cuda.Address(src.address), dst.Bytes())
}

// Sync implements Device.
func (c *CUDA) Sync() error { return c.Device.Sync() }

// Close implements Device.
func (c *CUDA) Close() error { return c.Device.Close() }

// hostBytes is the memory of a host array that is to be copied from or to a tensor.
func hostBytes(operation string, host *dense.Dense, t *Tensor) ([]byte, error) {
	bytes, err := rawBytes(operation, host)
	if err != nil {
		return nil, err
	}
	dtype, known := typeOf(host.Dtype())
	switch {
	case host.DataSize() == 0 && t.size == 0:
		return nil, nil
	case !known || t.dtype != dtype || host.DataSize() != t.size:
		return nil, fmt.Errorf("%s: host array %v %v and %s: %w", operation, host.Dtype(), host.Shape(), t, ErrShape)
	case t.address == 0:
		return nil, fmt.Errorf("%s: %s is not in device memory: %w", operation, t, ErrShape)
	}
	return bytes, nil
}

// typeOf is the element type on the device of a host array's. bfloat16 is uint16 on the host.
func typeOf(host dense.Dtype) (dtype DType, known bool) {
	switch host {
	case dense.Float32:
		return Float32, true
	case dense.Int32:
		return Int32, true
	case dense.Uint8:
		return Uint8, true
	case dense.Uint16:
		return BFloat16, true
	}
	return 0, false
}

// rawBytes is the memory of a host array of one of these types, nil for any other.
func rawBytes(operation string, host *dense.Dense) ([]byte, error) {
	if host.RequiresIterator() || host.DataOrder().IsColMajor() {
		return nil, fmt.Errorf("%s: host array %v is a view that is not row-major without gaps, materialize it: %w",
			operation, host.Shape(), ErrShape)
	}
	if host.DataSize() == 0 {
		return nil, nil
	}
	switch host.Dtype() {
	case dense.Float32:
		return bytesOf(host.Float32s()), nil
	case dense.Int32:
		return bytesOf(host.Int32s()), nil
	case dense.Uint8:
		return host.Uint8s(), nil
	case dense.Uint16:
		return bytesOf(host.Uint16s()), nil
	}
	return nil, nil
}

// bytesOf views numbers as their bytes.
func bytesOf[T float32 | int32 | uint16](numbers []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(numbers))), len(numbers)*int(unsafe.Sizeof(numbers[0])))
}
