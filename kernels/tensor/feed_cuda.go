//go:build cuda

package tensor

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	dense "gorgonia.org/tensor"

	"nmn/cuda"
)

// Feed copies host arrays to tensors of a graphics card while the card computes, by a cuda.Staging.
type Feed struct {
	device  *CUDA
	staging *cuda.Staging
	staged  []stagedArray
	arrays  []cuda.HostArray
	places  []cuda.Address

	mutex  sync.Mutex
	pinned map[*byte]*cuda.HostBuffer // memory that was given out, by its first byte
}

// stagedArray holds the properties of a staged array that its tensor must match.
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
	return &Feed{device: c, staging: staging, pinned: map[*byte]*cuda.HostBuffer{}}, nil
}

// Alloc gives pinned memory, from which arrays are uploaded without a copy by the host.
func (f *Feed) Alloc(bytes int) ([]byte, error) {
	buffer, err := f.device.Device.AllocHost(bytes)
	if err != nil {
		return nil, err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.pinned[unsafe.SliceData(buffer.Bytes())] = buffer
	return buffer.Bytes(), nil
}

// Free gives memory of Alloc back. No upload from it may be under way.
func (f *Feed) Free(memory []byte) error {
	f.mutex.Lock()
	first := unsafe.SliceData(memory)
	buffer := f.pinned[first]
	delete(f.pinned, first)
	f.mutex.Unlock()
	if buffer == nil {
		return errors.New("free pinned memory: it is not of this feed, or was freed before")
	}
	return buffer.Close()
}

// host reports whether the device can read an array by itself: whether it begins in memory of Alloc.
func (f *Feed) host(bytes []byte) cuda.HostArray {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return cuda.HostArray{Bytes: bytes, Pinned: f.pinned[unsafe.SliceData(bytes)]}
}

// Stage begins to upload arrays, as documented in kernels.Feed.
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
		f.staged, f.arrays = append(f.staged, stagedArray{dtype, array.DataSize()}), append(f.arrays, f.host(bytes))
	}
	err := f.staging.Stage(f.arrays...)
	clear(f.arrays) // they are the caller's
	if err != nil {
		f.staged = f.staged[:0]
	}
	return err
}

// Take enqueues copying the staged arrays to tensors of equal types and lengths.
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

// Wait waits until the staged arrays have left the host.
func (f *Feed) Wait() error { return f.staging.Wait() }

// Close waits for the uploads and frees the feed's memory, including memory from Alloc.
func (f *Feed) Close() error {
	err := f.staging.Close()
	for _, buffer := range f.pinned {
		err = errors.Join(err, buffer.Close())
	}
	clear(f.pinned)
	return err
}
