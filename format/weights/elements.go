package weights

import (
	"fmt"
	"io"
	"math"

	"nmn/format/safetensors"
)

func floating(d safetensors.DType) bool {
	return d == safetensors.F32 || d == safetensors.F64 || d == safetensors.F16 || d == safetensors.BF16
}

// count is the number of elements of a shape, whose dimensions are 0 or more.
func count(shape []int) (int64, error) {
	n := int64(1)
	for _, d := range shape {
		if d == 0 {
			return 0, nil
		}
		if n > math.MaxInt64/int64(d) {
			return 0, faultf("shape %v is too large", shape)
		}
		n *= int64(d)
	}
	return n, nil
}

// byteCount is the number of bytes of this number of elements. ok is false if it does not fit.
func byteCount(elements int64, width int) (bytes int64, ok bool) {
	if elements < 0 || elements > math.MaxInt64/int64(width) {
		return 0, false
	}
	return elements * int64(width), true
}

// sizes makes ints of dimensions.
func sizes(dims []int64) ([]int, error) {
	shape := make([]int, len(dims))
	for i, d := range dims {
		if shape[i] = int(d); d < 0 || int64(shape[i]) != d {
			return nil, faultf("shape %v: %d is not a size on this machine", dims, d)
		}
	}
	_, err := count(shape)
	return shape, err
}

// stream reads elements of width bytes in their order, in pieces. decode fills dst from len(dst)·width bytes.
func stream(r io.Reader, width int, decode func(dst []float32, b []byte)) elements {
	const piece = 16 << 10 // elements
	var buffer []byte
	return func(dst []float32) error {
		for len(dst) > 0 {
			n := min(len(dst), piece)
			if len(buffer) < n*width {
				buffer = make([]byte, n*width)
			}
			b := buffer[:n*width]
			if _, err := io.ReadFull(r, b); err != nil {
				return cut(err)
			}
			decode(dst[:n], b)
			dst = dst[n:]
		}
		return nil
	}
}

// cut makes one error of both ways in which a reader reports that a file is too short.
func cut(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return faultf("the file is cut short")
	}
	return fmt.Errorf("cannot read its data: %w", err)
}
