// Package safetensors reads and writes the .safetensors format: an eight-byte little-endian header length, a
// JSON header with the type, shape and place of each named tensor, then the data, row-major and
// little-endian. Checkpoints and pretrained weights use it.
//
// Files are treated as hostile: every length is checked against the file before memory is taken, and every
// error names the tensor. Reading never takes more memory than the requested tensor.
package safetensors

import (
	"errors"
	"math"
)

// ErrCorrupt is wrapped by every error about a file that does not follow the format.
var ErrCorrupt = errors.New("not a valid safetensors file")

// ErrNotFound is wrapped when a file has no tensor of the name asked for.
var ErrNotFound = errors.New("no such tensor")

// DType is the type of the elements, as the header spells it.
type DType string

// Element types of the format.
const (
	Bool     DType = "BOOL"
	U8       DType = "U8"
	I8       DType = "I8"
	F8E5M2   DType = "F8_E5M2"
	F8E4M3   DType = "F8_E4M3"
	U16      DType = "U16"
	I16      DType = "I16"
	F16      DType = "F16"
	BF16     DType = "BF16"
	U32      DType = "U32"
	I32      DType = "I32"
	F32      DType = "F32"
	U64      DType = "U64"
	I64      DType = "I64"
	F64      DType = "F64"
	metadata       = "__metadata__"
)

// Size is the number of bytes of an element, 0 for an unknown type.
func (d DType) Size() int {
	switch d {
	case Bool, U8, I8, F8E5M2, F8E4M3:
		return 1
	case U16, I16, F16, BF16:
		return 2
	case U32, I32, F32:
		return 4
	case U64, I64, F64:
		return 8
	}
	return 0
}

// byteCount is the size of a tensor. ok is false when a dimension is negative or the size does not fit in an
// int64. A shape with a 0 has no data, whatever its other dimensions are.
func byteCount(dtype DType, shape []int) (count int64, ok bool) {
	count = int64(dtype.Size())
	empty := false
	for _, d := range shape {
		if d < 0 {
			return 0, false
		}
		empty = empty || d == 0
	}
	if empty {
		return 0, true
	}
	for _, d := range shape {
		if count > math.MaxInt64/int64(d) {
			return 0, false
		}
		count *= int64(d)
	}
	return count, true
}
