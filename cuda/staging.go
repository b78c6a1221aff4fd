//go:build cuda

package cuda

import (
	"errors"
	"fmt"
)

// Staging uploads arrays on a stream of its own, in parallel with the computation. Stage sends them to device memory
// of the Staging, and Take copies them to the memory that the device's own stream reads. So the next arrays are
// uploaded while the last are in use, and captured work finds each in the same place.
//
// Two events order the streams and the host. arrived: Take waits until the staged arrays have arrived.
// taken: the next upload waits until Take has copied the arrays staged before.
type Staging struct {
	device         *Device
	stream         *Stream // of the uploads
	at             Address
	room           int           // bytes at at
	staged         []stagedArray // not taken
	arrived, taken *Event
}

// stagedArray is the place of an array in staging memory.
type stagedArray struct {
	from  Address
	bytes int
}

// HostArray is memory to upload: any, which Stage copies aside, or the first bytes of a pinned buffer, which the
// device reads itself.
type HostArray struct {
	Bytes  []byte
	Pinned *HostBuffer // nil for any memory
}

// alignment of the arrays in staging memory, as in Alloc.
const alignment = 256

// NewStaging makes an empty staging.
func (d *Device) NewStaging() (*Staging, error) {
	s := &Staging{device: d}
	var err error
	if s.taken, err = d.NewEvent(false); err != nil {
		return nil, err
	}
	if s.arrived, err = d.NewWaitedEvent(); err == nil {
		s.stream, err = d.NewStream("upload")
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Stage begins to upload arrays. Arrays in pinned memory must not be changed until they have arrived: until
// Wait returns, or until work after Take has been waited for. The others may be changed when Stage returns.
// Arrays that were staged before and not taken are dropped.
func (s *Staging) Stage(arrays ...HostArray) error {
	s.staged = s.staged[:0]
	total := 0
	for _, array := range arrays {
		total += padded(len(array.Bytes))
	}
	if err := s.reserve(total); err != nil {
		return err
	}
	err := s.stream.Wait(s.taken)
	next := s.at
	for _, array := range arrays {
		at := stagedArray{next, len(array.Bytes)}
		switch {
		case err != nil:
		case array.Pinned != nil:
			err = s.stream.UploadPinned(at.from, array.Pinned, at.bytes)
		default:
			err = s.stream.Upload(at.from, array.Bytes)
		}
		s.staged = append(s.staged, at)
		next += Address(padded(at.bytes))
	}
	if err == nil {
		err = s.stream.Record(s.arrived)
	}
	if err != nil {
		s.staged = s.staged[:0]
	}
	return err
}

// padded is a size up to the next multiple of alignment.
func padded(bytes int) int { return (bytes + alignment - 1) &^ (alignment - 1) }

// Wait waits until all that was staged has arrived.
func (s *Staging) Wait() error { return s.arrived.Sync() }

// reserve makes room for arrays that are larger than any before.
func (s *Staging) reserve(bytes int) error {
	if bytes <= s.room {
		return nil
	}
	err := s.device.Free(s.at)
	s.at, s.room = 0, 0
	if err != nil {
		return err
	}
	if s.at, err = s.device.Alloc(bytes); err != nil {
		return fmt.Errorf("cuda: staging: %w", err)
	}
	s.room = bytes
	return s.device.compute.Record(s.taken) // after the zeroing in Alloc
}

// Take enqueues, on the stream Compute, copying the staged arrays to equally many places, which have room for
// them.
func (s *Staging) Take(places ...Address) error {
	if len(s.staged) == 0 || len(places) != len(s.staged) {
		return fmt.Errorf("cuda: take %d arrays of %d that were staged", len(places), len(s.staged))
	}
	compute := s.device.compute
	if err := compute.Wait(s.arrived); err != nil {
		return err
	}
	for i, array := range s.staged {
		if err := compute.Copy(places[i], array.from, array.bytes); err != nil {
			return err
		}
	}
	s.staged = s.staged[:0]
	return compute.Record(s.taken)
}

// Close waits for the uploads and frees its memory.
func (s *Staging) Close() error {
	var err error
	if s.stream != nil {
		err = s.stream.Close()
	}
	if s.arrived != nil {
		err = errors.Join(err, s.arrived.Close())
	}
	err = errors.Join(err, s.taken.Close(), s.device.Free(s.at))
	s.at, s.room = 0, 0
	return err
}
