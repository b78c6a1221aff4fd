package tensor

import (
	"math"

	dense "gorgonia.org/tensor"
)

// HostArray is numbers as they are uploaded to a tensor of a type of floats: over the same memory for
// float32, rounded for bfloat16.
func HostArray(dtype DType, numbers []float32) *dense.Dense {
	if dtype != BFloat16 {
		return dense.New(dense.WithShape(len(numbers)), dense.WithBacking(numbers))
	}
	half := make([]uint16, len(numbers))
	RoundBFloat16(half, numbers)
	return dense.New(dense.WithShape(len(half)), dense.WithBacking(half))
}

// RoundBFloat16 writes numbers as bfloat16, the upper half of a float32: to the nearest one, ties to even, as
// the kernels round. NaN stays NaN. Both slices have the same length.
func RoundBFloat16(dst []uint16, src []float32) {
	dst = dst[:len(src)]
	for i, v := range src {
		bits := math.Float32bits(v)
		if v != v {
			dst[i] = uint16(bits>>16 | 0x40)
			continue
		}
		dst[i] = uint16((bits + 0x7fff + bits>>16&1) >> 16)
	}
}

// WidenBFloat16 writes bfloat16 numbers as float32, exactly. Both slices have the same length.
func WidenBFloat16(dst []float32, src []uint16) {
	dst = dst[:len(src)]
	for i, bits := range src {
		dst[i] = math.Float32frombits(uint32(bits) << 16)
	}
}
