package tensor

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// ErrShape is wrapped by every error about shapes or element types that do not fit together.
var ErrShape = errors.New("shapes do not fit")

// Misfit is an error about tensors that do not fit an operation. It wraps ErrShape.
func Misfit(operation, format string, a ...any) error {
	return fmt.Errorf("%s: %s: %w", operation, fmt.Sprintf(format, a...), ErrShape)
}

// DType is the type of an element.
type DType uint8

// Element types. BFloat16 exists on devices that compute in it. A host array holds it as uint16.
const (
	Float32 DType = iota
	Int32
	Uint8
	BFloat16
)

// Size is the number of bytes of an element.
func (d DType) Size() int { return [...]int{4, 4, 1, 2}[d] }

// String returns the name as it is written in shape errors.
func (d DType) String() string {
	if d > BFloat16 {
		return fmt.Sprintf("element type %d", uint8(d))
	}
	return [...]string{"float32", "int32", "uint8", "bfloat16"}[d]
}

// Tensor is a handle to a dense row-major array in the memory of one device. Views made by Reshape and Rows
// share that memory. A Tensor is valid until its arena or device is closed. Handles are not safe for
// concurrent writes.
type Tensor struct {
	shape []int
	dtype DType
	size  int // elements

	host    []byte  // memory on the CPU, nil on another device
	address uintptr // device address, 0 on the CPU
}

// OfFloat32s makes a CPU tensor over data, whose length must be the product of shape.
func OfFloat32s(data []float32, shape ...int) (*Tensor, error) {
	return ofHost(Float32, data, shape)
}

// OfInt32s makes a CPU tensor over data, whose length must be the product of shape.
func OfInt32s(data []int32, shape ...int) (*Tensor, error) {
	return ofHost(Int32, data, shape)
}

// OfUint8s makes a CPU tensor over data, whose length must be the product of shape.
func OfUint8s(data []uint8, shape ...int) (*Tensor, error) {
	return ofHost(Uint8, data, shape)
}

// OfBFloat16s makes a CPU tensor over the bits of numbers, whose count must be the product of shape.
func OfBFloat16s(data []uint16, shape ...int) (*Tensor, error) {
	return ofHost(BFloat16, data, shape)
}

// OfAddress makes a tensor over device memory at an address. Only the device's backend reads it.
func OfAddress(address uintptr, dtype DType, shape ...int) (*Tensor, error) {
	size, err := Elements(shape)
	return &Tensor{dtype: dtype, address: address, shape: slices.Clone(shape), size: size}, err
}

func ofHost[T number](dtype DType, data []T, shape []int) (*Tensor, error) {
	size, err := Elements(shape)
	if err == nil && size != len(data) {
		err = Misfit("tensor", "%d elements for shape %s", len(data), Format(shape))
	}
	if err != nil {
		return &Tensor{dtype: dtype}, err
	}
	return &Tensor{dtype: dtype, shape: slices.Clone(shape), size: size, host: bytesOf(data)}, nil
}

// maxElements is the limit of Elements: 2^40, or the largest int.
const maxElements = min(1<<40, math.MaxInt)

// Elements returns the product of the dimensions. A negative dimension or a product above 2^40 (on 32-bit
// machines 2^31-1) is an error.
func Elements(shape []int) (int, error) {
	size := 1
	for _, d := range shape {
		if d < 0 {
			return 0, fmt.Errorf("tensor: negative dimension in %s: %w", Format(shape), ErrShape)
		}
		if d > 0 && size > maxElements/d {
			return 0, fmt.Errorf("tensor: shape %s is too large: %w", Format(shape), ErrShape)
		}
		size *= d
	}
	return size, nil
}

// Format writes a shape as 8×224×224×3.
func Format(shape []int) string {
	if len(shape) == 0 {
		return "scalar"
	}
	var b strings.Builder
	for i, d := range shape {
		if i > 0 {
			b.WriteString("×")
		}
		fmt.Fprint(&b, d)
	}
	return b.String()
}

// Shape returns the dimensions; the caller must not change them.
func (t *Tensor) Shape() []int { return t.shape }

// Dim returns dimension i; a negative i counts from the end.
func (t *Tensor) Dim(i int) int {
	if i < 0 {
		i += len(t.shape)
	}
	return t.shape[i]
}

// Rank is the number of dimensions.
func (t *Tensor) Rank() int { return len(t.shape) }

// Len is the number of elements.
func (t *Tensor) Len() int { return t.size }

// Bytes is the size in memory.
func (t *Tensor) Bytes() int { return t.size * t.dtype.Size() }

// DType is the type of the elements.
func (t *Tensor) DType() DType { return t.dtype }

// Float32s is the memory of a CPU tensor of float32, nil for any other and for a nil tensor.
func (t *Tensor) Float32s() []float32 { return numbers[float32](t, Float32) }

// Int32s is the memory of a CPU tensor of int32, nil for any other.
func (t *Tensor) Int32s() []int32 { return numbers[int32](t, Int32) }

// Uint8s is the memory of a CPU tensor of uint8, nil for any other.
func (t *Tensor) Uint8s() []uint8 { return numbers[uint8](t, Uint8) }

// BFloat16s is the memory of a CPU tensor of bfloat16, as bits, nil for any other.
func (t *Tensor) BFloat16s() []uint16 { return numbers[uint16](t, BFloat16) }

// Memory is the memory of a CPU tensor, nil for any other.
func (t *Tensor) Memory() []byte { return t.host }

// Address is the device address, 0 on the CPU.
func (t *Tensor) Address() uintptr { return t.address }

// Reshape returns a view of all elements under another shape with the same number of elements.
func (t *Tensor) Reshape(shape ...int) (*Tensor, error) {
	size, err := Elements(shape)
	if err != nil {
		return nil, err
	}
	if size != t.size {
		return nil, fmt.Errorf("tensor: cannot view %s as %s: %w", Format(t.shape), Format(shape), ErrShape)
	}
	view := *t
	view.shape = slices.Clone(shape)
	return &view, nil
}

// Rows returns a view of rows lo to hi (exclusive) of the first dimension.
func (t *Tensor) Rows(lo, hi int) (*Tensor, error) {
	if len(t.shape) == 0 || lo < 0 || hi < lo || hi > t.shape[0] {
		return nil, fmt.Errorf("tensor: rows %d to %d of %s: %w", lo, hi, Format(t.shape), ErrShape)
	}
	row := 1
	for _, d := range t.shape[1:] {
		row *= d
	}
	view := *t
	view.shape = append([]int{hi - lo}, t.shape[1:]...)
	view.size = (hi - lo) * row
	row *= t.dtype.Size()
	if t.host != nil {
		view.host = t.host[lo*row : hi*row]
	} else {
		view.address += uintptr(lo * row)
	}
	return &view, nil
}

// String describes the tensor for messages: float32 8×224×224×3.
func (t *Tensor) String() string {
	if t == nil {
		return "none"
	}
	return t.dtype.String() + " " + Format(t.shape)
}

// SameShape reports whether two tensors have equal dimensions.
func SameShape(a, b *Tensor) bool { return slices.Equal(a.shape, b.shape) }

// IsFloats reports whether t is a tensor of a type that devices compute in, with these dimensions. Without dimensions
// any will do.
func (t *Tensor) IsFloats(shape ...int) bool {
	return t != nil && (t.dtype == Float32 || t.dtype == BFloat16) && (len(shape) == 0 || slices.Equal(t.shape, shape))
}

// Is reports whether t is a tensor of a type, with these dimensions.
func (t *Tensor) Is(dtype DType, shape ...int) bool {
	return t != nil && t.dtype == dtype && slices.Equal(t.shape, shape)
}
