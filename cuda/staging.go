//go:build cuda

package cuda

import (
	"errors"
	"fmt"
)

// Staging uploads arrays in parallel with the computation. Stage sends them to device memory of its own, and
// Take copies them to the memory that the device's own stream reads. So the next arrays are uploaded while
// the last are in use, and captured work finds each in the same place.
//
// Three events order the streams and the host. arrived: Take waits until the staged arrays have arrived.
// taken: the next upload waits until Take has copied the arrays staged before.
type Staging struct {
	device         *Device
	ring           *Ring
	at             Address
	room           int           // bytes at at
	staged         []stagedArray // not taken
	arrived, taken *Event
	parts          [][]byte // of the arrays that are copied aside
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

// Pinned memory of a Staging, for arrays that are not pinned: enough to keep the copy busy while the host
// fills the other buffer.
const (
	stagingSlots     = 2
	stagingSlotBytes = 4 << 20
)

// alignment of the arrays in staging memory, as in Alloc.
const alignment = 256

// padding fills up to the next multiple of alignment.
var padding [alignment]byte

// NewStaging makes an empty staging.
func (d *Device) NewStaging() (*Staging, error) {
	s := &Staging{device: d}
	var err error
	if s.taken, err = d.NewEvent(false); err != nil {
		return nil, err
	}
	if s.arrived, err = d.NewWaitedEvent(); err == nil {
		s.ring, err = d.NewRing(stagingSlots, stagingSlotBytes)
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
	s.staged, s.parts = s.staged[:0], s.parts[:0]
	total := 0
	for _, array := range arrays {
		total += padded(len(array.Bytes))
	}
	if err := s.reserve(total); err != nil {
		return err
	}
	// Arrays that are copied to pinned memory go first, in one piece.
	next := s.at
	place := func(bytes int) Address {
		at := next
		next += Address(padded(bytes))
		return at
	}
	for _, array := range arrays {
		at := stagedArray{bytes: len(array.Bytes)}
		if array.Pinned == nil {
			at.from = place(at.bytes)
			s.parts = append(s.parts, array.Bytes, padding[:padded(at.bytes)-at.bytes])
		}
		s.staged = append(s.staged, at)
	}
	_, err := s.ring.Upload(s.at, s.taken, s.parts...)
	clear(s.parts) // the arrays are the caller's
	for i, array := range arrays {
		if array.Pinned != nil && err == nil {
			s.staged[i].from = place(len(array.Bytes))
			err = s.ring.stream.UploadPinned(s.staged[i].from, array.Pinned, len(array.Bytes))
		}
	}
	if err == nil {
		err = s.ring.stream.Record(s.arrived)
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
	if s.ring != nil {
		err = s.ring.Close()
	}
	if s.arrived != nil {
		err = errors.Join(err, s.arrived.Close())
	}
	err = errors.Join(err, s.taken.Close(), s.device.Free(s.at))
	s.at, s.room = 0, 0
	return err
}
