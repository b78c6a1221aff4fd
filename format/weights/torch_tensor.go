package weights

import (
	"io"
	"math"
	"slices"
)

// array checks a tensor against its storage, and the storage against the file.
func (t *pickledTensor) array(name string, find func(*storage) (place, error)) (array, error) {
	shape, err := sizes(t.shape)
	if err != nil {
		return array{}, err
	}
	end, err := t.end()
	if err != nil {
		return array{}, err
	}
	open, err := find(t.storage)
	if err != nil {
		return array{}, err
	}
	a := array{name: name, dtype: t.storage.dtype, shape: shape}
	a.open = func() (elements, error) {
		r, err := open()
		if err != nil {
			return nil, err
		}
		width := int64(t.storage.dtype.Size())
		if _, err := io.CopyN(io.Discard, r, t.offset*width); err != nil {
			return nil, cut(err)
		}
		if !t.contiguous() {
			return t.gather(r, end-t.offset)
		}
		return stream(r, int(width), t.storage.dtype.Float32Decoder()), nil
	}
	return a, nil
}

// end is the index after the last element of the storage that belongs to the tensor.
func (t *pickledTensor) end() (int64, error) {
	if slices.Contains(t.shape, 0) {
		return t.offset, nil
	}
	last := t.offset
	for i, d := range t.shape {
		stride := t.strides[i]
		if stride > 0 && d-1 > (math.MaxInt64-last)/stride {
			return 0, faultf("shape %v with strides %v is too large", t.shape, t.strides)
		}
		last += (d - 1) * stride
	}
	if last >= t.storage.elements {
		return 0, faultf("shape %v with strides %v from element %d ends at element %d of a storage of %d",
			t.shape, t.strides, t.offset, last, t.storage.elements)
	}
	return last + 1, nil
}

// contiguous reports whether the elements lie in row-major order without gaps.
func (t *pickledTensor) contiguous() bool {
	next := int64(1)
	for i := len(t.shape) - 1; i >= 0; i-- {
		if t.shape[i] != 1 && t.strides[i] != next {
			return false
		}
		next *= t.shape[i]
	}
	return true
}

// maxGathered bounds the memory for a tensor whose elements do not lie in order: 1 GiB.
const maxGathered = 1 << 30

// gather reads the part of a storage with the elements of a transposed or cut tensor, extent elements from
// its first element on, and gives the elements in order.
func (t *pickledTensor) gather(r io.Reader, extent int64) (elements, error) {
	width := int64(t.storage.dtype.Size())
	if extent > maxGathered/width {
		return nil, faultf("it has the strides %v over %d elements, which is too many to be put in order in memory: "+
			"save it contiguous (tensor.contiguous())", t.strides, extent)
	}
	part, err := io.ReadAll(io.LimitReader(r, extent*width)) // memory grows only with existing bytes
	if err == nil && int64(len(part)) < extent*width {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, cut(err)
	}
	index := make([]int64, len(t.shape))
	decode := t.storage.dtype.Float32Decoder()
	return func(dst []float32) error {
		for i := range dst {
			at := int64(0)
			for d, k := range index {
				at += k * t.strides[d]
			}
			decode(dst[i:i+1], part[at*width:(at+1)*width])
			for d := len(index) - 1; d >= 0; d-- { // the next one, the last dimension fastest
				if index[d]++; index[d] < t.shape[d] {
					break
				}
				index[d] = 0
			}
		}
		return nil
	}, nil
}
