//go:build cuda

package cuda

import (
	"errors"
	"fmt"
)

// Staging uploads arrays beside what computes: Stage sends them to device memory of its own, Take copies
// them on to where the device's own stream reads. So the next arrays travel while the last are worked on,
// and captured work finds each in the same place.
//
// Two events order the streams. uploaded: Take waits until what was staged has arrived. taken: the next
// upload waits until Take has copied what was staged before.
type Staging struct {
	device          *Device
	ring            *Ring
	at              Address
	room            int    // bytes at at
	sizes           []int  // of the arrays that are staged, in bytes
	uploaded, taken *Event // uploaded is the ring's, nil while nothing is staged
	parts           [][]byte
}

// Pinned memory of a Staging: enough to keep the copy busy while the host fills the other buffer.
const (
	stagingSlots     = 2
	stagingSlotBytes = 4 << 20
)

// alignment of the arrays in staging memory, which is that of Alloc.
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
	if s.ring, err = d.NewRing(stagingSlots, stagingSlotBytes); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Stage begins to upload arrays; they may be changed when it returns. What was staged before and not taken
// is forgotten.
func (s *Staging) Stage(arrays ...[]byte) error {
	s.sizes, s.parts, s.uploaded = s.sizes[:0], s.parts[:0], nil
	total := 0
	for _, array := range arrays {
		gap := -len(array) & (alignment - 1)
		s.sizes = append(s.sizes, len(array))
		s.parts = append(s.parts, array, padding[:gap])
		total += len(array) + gap
	}
	if err := s.reserve(total); err != nil {
		return err
	}
	var err error
	s.uploaded, err = s.ring.Upload(s.at, s.taken, s.parts...)
	clear(s.parts) // the arrays are the caller's
	return err
}

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
	return s.device.compute.Record(s.taken) // behind the zeroes of Alloc
}

// Take enqueues, on the stream Compute, copying what was staged to as many places, which have room for it.
func (s *Staging) Take(places ...Address) error {
	if s.uploaded == nil || len(places) != len(s.sizes) {
		return fmt.Errorf("cuda: take %d arrays of %d that were staged", len(places), len(s.sizes))
	}
	compute := s.device.compute
	if err := compute.Wait(s.uploaded); err != nil {
		return err
	}
	s.uploaded = nil
	from := s.at
	for i, size := range s.sizes {
		if err := compute.Copy(places[i], from, size); err != nil {
			return err
		}
		from += Address((size + alignment - 1) &^ (alignment - 1))
	}
	s.sizes = s.sizes[:0]
	return compute.Record(s.taken)
}

// Close waits for the uploads and frees what it holds.
func (s *Staging) Close() error {
	var err error
	if s.ring != nil {
		err = s.ring.Close()
	}
	err = errors.Join(err, s.taken.Close(), s.device.Free(s.at))
	s.at, s.room = 0, 0
	return err
}
