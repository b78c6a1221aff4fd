//go:build cuda

package tensor

import (
	"fmt"

	dense "gorgonia.org/tensor"

	"nmn/cuda"
)

// Feed brings host arrays to tensors of a graphics card beside its computing, by a cuda.Staging.
type Feed struct {
	device  *CUDA
	staging *cuda.Staging
	staged  []stagedArray
	arrays  [][]byte
	places  []cuda.Address
}

// stagedArray is what must fit the tensor that an array is for.
type stagedArray struct {
	dtype  DType
	length int
}

// NewFeed makes an empty feed.
func (c *CUDA) NewFeed() (*Feed, error) {
	staging, err := c.Device.NewStaging()
	if err != nil {
		return nil, err
	}
	return &Feed{device: c, staging: staging}, nil
}

// Stage begins to upload arrays; they may be changed when it returns.
func (f *Feed) Stage(arrays []*dense.Dense) error {
	f.staged, f.arrays = f.staged[:0], f.arrays[:0]
	for i, array := range arrays {
		dtype, ok := typeOf(array.Dtype())
		if !ok {
			return fmt.Errorf("stage: array %d is %v: %w", i, array.Dtype(), ErrShape)
		}
		bytes, err := rawBytes("stage", array)
		if err != nil {
			return err
		}
		f.staged, f.arrays = append(f.staged, stagedArray{dtype, array.DataSize()}), append(f.arrays, bytes)
	}
	err := f.staging.Stage(f.arrays...)
	clear(f.arrays) // they are the caller's
	if err != nil {
		f.staged = f.staged[:0]
	}
	return err
}

// Take enqueues copying what was staged to tensors of the same types and lengths.
func (f *Feed) Take(to []*Tensor) error {
	if len(to) != len(f.staged) {
		return fmt.Errorf("take: %d arrays were staged for %d tensors: %w", len(f.staged), len(to), ErrShape)
	}
	f.places = f.places[:0]
	for i, t := range to {
		if s := f.staged[i]; t == nil || t.dtype != s.dtype || t.size != s.length {
			return fmt.Errorf("take: array %d is %s of %d elements, its tensor %s: %w", i, s.dtype, s.length, t, ErrShape)
		}
		if err := OnDevice("take", t.dtype, t); err != nil {
			return err
		}
		f.places = append(f.places, At(t))
	}
	f.staged = f.staged[:0]
	return f.staging.Take(f.places...)
}

// Close waits for the uploads and frees what the feed holds.
func (f *Feed) Close() error { return f.staging.Close() }
