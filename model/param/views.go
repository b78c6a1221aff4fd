package param

import "nmn/kernels/tensor"

// Views cuts views of a net's memory and keeps the first error. A view of nil, or after an error, is nil.
type Views struct{ Err error }

// Rows views the rows [from, to).
func (v *Views) Rows(t *tensor.Tensor, from, to int) (view *tensor.Tensor) {
	if v.Err != nil || t == nil {
		return nil
	}
	view, v.Err = t.Rows(from, to)
	return view
}

// Row views a row of a matrix.
func (v *Views) Row(t *tensor.Tensor, i int) *tensor.Tensor {
	if v.Err != nil || t == nil {
		return nil
	}
	return v.Shaped(v.Rows(t, i, i+1), t.Dim(1))
}

// Shaped views all of a tensor in another shape.
func (v *Views) Shaped(t *tensor.Tensor, shape ...int) (view *tensor.Tensor) {
	if v.Err != nil || t == nil {
		return nil
	}
	view, v.Err = t.Reshape(shape...)
	return view
}

// Start views the start of a buffer in a shape.
func (v *Views) Start(t *tensor.Tensor, shape ...int) *tensor.Tensor {
	if v.Err != nil || t == nil {
		return nil
	}
	size, err := tensor.Elements(shape)
	if err != nil {
		v.Err = err
		return nil
	}
	if t.Rank() > 1 {
		t = v.Shaped(t, t.Len())
	}
	return v.Shaped(v.Rows(t, 0, size), shape...)
}
