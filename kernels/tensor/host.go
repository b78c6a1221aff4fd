package tensor

import (
	"unsafe"

	dense "gorgonia.org/tensor"
)

// number is an element in the memory of the host. bfloat16 is uint16 there.
type number interface {
	float32 | int32 | uint8 | uint16
}

// bytesOf views numbers as their bytes.
func bytesOf[T number](numbers []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(numbers))), len(numbers)*int(unsafe.Sizeof(*new(T))))
}

// numbers views the memory of a CPU tensor as its elements, nil for a tensor of another type or device, or for none.
func numbers[T number](t *Tensor, dtype DType) []T {
	if t == nil || t.dtype != dtype || t.host == nil {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(t.host))), t.size)
}

// typeOf is the element type on the device of a host array's.
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
		return nil, Misfit(operation, "host array %v is a view that is not row-major without gaps, materialize it",
			host.Shape())
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
		return nil, Misfit(operation, "host array %v %v and %s", host.Dtype(), host.Shape(), t)
	}
	return bytes, nil
}

// OnHost checks that tensors are in host memory and of an element type. nil tensors and empty ones are skipped.
func OnHost(operation string, dtype DType, tensors ...*Tensor) error {
	for _, t := range tensors {
		if t != nil && t.size > 0 && (t.dtype != dtype || t.host == nil) {
			return Misfit(operation, "%s is not %s in host memory", t, dtype)
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
