//go:build cuda

package tensor

import (
	"errors"
	"fmt"
	"unsafe"

	"nmn/cuda"
)

// drainSlots is the number of results that may be under way: the current batch's and the previous batch's.
const drainSlots = 2

// Drain copies tensors of a graphics card to pinned memory of the host while the card computes.
type Drain struct {
	device *CUDA
	slots  [drainSlots]drainSlot
	oldest int // slot of the result that was begun first
	held   int // results that were begun and not asked for
}

// drainSlot is room for one result.
type drainSlot struct {
	buffer *cuda.HostBuffer // nil for none yet
	done   *cuda.Event
	bytes  int
}

// NewDrain makes a drain with nothing on its way.
func (c *CUDA) NewDrain() (*Drain, error) {
	d := &Drain{device: c}
	for i := range d.slots {
		var err error
		if d.slots[i].done, err = c.Device.NewWaitedEvent(); err != nil {
			return nil, errors.Join(err, d.Close())
		}
	}
	return d, nil
}

// Begin enqueues copying a float32 tensor to the host, as documented in kernels.Drain.
func (d *Drain) Begin(src *Tensor) error {
	if err := OnDevice("drain", Float32, src); err != nil {
		return err
	}
	if d.held == drainSlots {
		return fmt.Errorf("drain: %d results are on their way, and none was asked for", d.held)
	}
	s := &d.slots[(d.oldest+d.held)%drainSlots]
	if err := s.reserve(d.device.Device, src.Bytes()); err != nil {
		return err
	}
	s.bytes = src.Bytes()
	if err := d.device.Stream.DownloadPinned(s.buffer, At(src), s.bytes); err != nil {
		return err
	}
	if err := d.device.Stream.Record(s.done); err != nil {
		return err
	}
	d.held++
	return nil
}

// reserve makes room for a result. Nothing is on its way to the slot.
func (s *drainSlot) reserve(device *cuda.Device, bytes int) (err error) {
	if s.buffer != nil && bytes <= len(s.buffer.Bytes()) {
		return nil
	}
	if s.buffer != nil {
		if err := s.buffer.Close(); err != nil {
			return err
		}
	}
	s.buffer, err = device.AllocHost(max(bytes, 1))
	return err
}

// Next waits for the oldest result.
func (d *Drain) Next() ([]float32, error) {
	if d.held == 0 {
		return nil, errors.New("drain: no result is on its way")
	}
	s := &d.slots[d.oldest]
	d.oldest, d.held = (d.oldest+1)%drainSlots, d.held-1
	if err := s.done.Sync(); err != nil {
		return nil, err
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(s.buffer.Bytes()))), s.bytes/Float32.Size()), nil
}

// Close waits for copies under way and frees the drain's memory.
func (d *Drain) Close() error {
	var errs []error
	for d.held > 0 {
		_, err := d.Next()
		errs = append(errs, err)
	}
	for i := range d.slots {
		s := &d.slots[i]
		if s.done != nil {
			errs = append(errs, s.done.Close())
		}
		if s.buffer != nil {
			errs = append(errs, s.buffer.Close())
		}
		*s = drainSlot{}
	}
	return errors.Join(errs...)
}
