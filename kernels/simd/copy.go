package simd

import "fmt"

// checkRows panics if rows of a width at a stride leave a slice.
func checkRows(operation string, length, stride, rows, width int) {
	if stride < 0 || rows < 0 || width < 0 || rows > 0 && (rows-1)*stride+width > length {
		panic(fmt.Sprintf("simd: %s: %d rows of %d, stride %d, in %d", operation, rows, width, stride, length))
	}
}

func copyRowsGeneric(dst []float32, dstStride int, src []float32, srcStride, rows, width int) {
	for i := range rows {
		copy(dst[i*dstStride:][:width], src[i*srcStride:])
	}
}

// transposeGeneric transposes columns lo to cols of rows from to rows.
func transposeGeneric(dst []float32, dstStride int, src []float32, srcStride, rows, cols int) {
	for i := range rows {
		row := src[i*srcStride:][:cols]
		for j, v := range row {
			dst[j*dstStride+i] = v
		}
	}
}

func sumRowsGeneric(dst, src []float32, stride, rows int) {
	for i := range rows {
		row := src[i*stride:][:len(dst)]
		for j, v := range row {
			dst[j] += v
		}
	}
}

func addGeneric(dst, src []float32) {
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] += v
	}
}
