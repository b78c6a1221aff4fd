package eval

import (
	"fmt"

	dense "gorgonia.org/tensor"
)

// Float32Matrix returns the values of a row-major N×K host array of float32 without copying them,
// with N and K. Another type, shape or layout is an error that wraps ErrShape.
func Float32Matrix(d *dense.Dense) (values []float32, bags, classes int, err error) {
	if bags, classes, err = matrixShape(d, dense.Float32); err != nil {
		return nil, 0, 0, err
	}
	return d.Float32s()[:bags*classes], bags, classes, nil
}

// Uint8Matrix does the same for labels and counts.
func Uint8Matrix(d *dense.Dense) (values []uint8, bags, classes int, err error) {
	if bags, classes, err = matrixShape(d, dense.Uint8); err != nil {
		return nil, 0, 0, err
	}
	return d.Uint8s()[:bags*classes], bags, classes, nil
}

func matrixShape(d *dense.Dense, want dense.Dtype) (bags, classes int, err error) {
	if d == nil {
		return 0, 0, fmt.Errorf("evaluation: no array given, want N×K of %v: %w", want, ErrShape)
	}
	shape := d.Shape()
	if d.Dtype() != want || shape.Dims() != 2 || d.RequiresIterator() || d.DataOrder().IsColMajor() {
		return 0, 0, fmt.Errorf("evaluation: array of %v, shape %v: want contiguous row-major N×K of %v: %w",
			d.Dtype(), shape, want, ErrShape)
	}
	return shape[0], shape[1], nil
}
