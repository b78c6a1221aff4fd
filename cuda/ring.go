//go:build cuda

package cuda

import (
	"errors"
	"fmt"
)

// Ring uploads through pinned buffers on a stream of its own, beside what computes.
type Ring struct {
	stream *Stream
	slots  []slot
	next   int
}

// slot is a buffer with the event of its latest copy.
type slot struct {
	buffer *HostBuffer
	done   *Event
}

// NewRing makes a ring of slots buffers of bytes each. With two or more, filling one overlaps with the
// copy from another.
func (d *Device) NewRing(slots, bytes int) (*Ring, error) {
	if slots < 1 || bytes < 1 {
		return nil, fmt.Errorf("cuda: a ring of %d buffers of %d bytes: want at least one of each", slots, bytes)
	}
	stream, err := d.NewStream("upload")
	if err != nil {
		return nil, err
	}
	r := &Ring{stream: stream}
	for range slots {
		var s slot
		if s.buffer, err = d.AllocHost(bytes); err == nil {
			s.done, err = d.NewEvent(false)
		}
		r.slots = append(r.slots, s)
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
	}
	return r, nil
}

// Upload copies src aside and enqueues its copy to the device; src may be changed when it returns. The
// copy begins after the event free, nil for at once: record free behind the last work that reads or writes
// dst, which for fresh memory is the zeroes of Alloc.
// What reads the new content must wait for done, which is the ring's.
func (r *Ring) Upload(dst Address, src []byte, free *Event) (done *Event, err error) {
	if free != nil {
		if err := r.stream.Wait(free); err != nil {
			return nil, err
		}
	}
	for first := true; first || len(src) > 0; first = false {
		s := &r.slots[r.next]
		r.next = (r.next + 1) % len(r.slots)
		if err := s.done.Sync(); err != nil { // the copy that last used this buffer
			return nil, err
		}
		n := copy(s.buffer.Bytes(), src)
		if err := r.stream.UploadPinned(dst, s.buffer, n); err != nil {
			return nil, err
		}
		if err := r.stream.Record(s.done); err != nil {
			return nil, err
		}
		dst, src, done = dst+Address(n), src[n:], s.done
	}
	return done, nil
}

// Close waits for the copies and frees the buffers.
func (r *Ring) Close() error {
	err := r.stream.Close()
	for _, s := range r.slots {
		if s.done != nil {
			err = errors.Join(err, s.done.Close())
		}
		if s.buffer != nil {
			err = errors.Join(err, s.buffer.Close())
		}
	}
	return err
}
