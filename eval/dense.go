package eval

import (
	"fmt"

	dense "gorgonia.org/tensor"
)

// Uint8Matrix returns the values of a row-major N×K host array of uint8, of labels or counts, without copying them,
// with N and K. Another type, shape or layout is an error that wraps ErrShape.
func Uint8Matrix(d *dense.Dense) (values []uint8, bags, classes int, err error) {
	if d == nil {
		return nil, 0, 0, fmt.Errorf("evaluation: no array given, want N×K of uint8: %w", ErrShape)
	}
	shape := d.Shape()
	if d.Dtype() != dense.Uint8 || shape.Dims() != 2 || d.RequiresIterator() || d.DataOrder().IsColMajor() {
		return nil, 0, 0, fmt.Errorf("evaluation: array of %v, shape %v: want contiguous row-major N×K of uint8: %w",
			d.Dtype(), shape, ErrShape)
	}
	return d.Uint8s()[:shape[0]*shape[1]], shape[0], shape[1], nil
}
