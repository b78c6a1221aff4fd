//go:build cuda

package cuda

import (
	"errors"
	"fmt"
)

// Ring uploads through pinned buffers on a stream of its own, in parallel with the computation.
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
	if r.slots, err = d.newSlots(slots, bytes); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Upload copies parts to pinned memory and enqueues their consecutive copy to the device. The parts may be
// changed when it returns. The copy begins after the event free, nil for at once. Record free after the last
// work that reads or writes dst. For fresh memory that is the zeroing in Alloc. Readers of the new content
// must wait for done, which belongs to the ring.
func (r *Ring) Upload(dst Address, free *Event, parts ...[]byte) (done *Event, err error) {
	if free != nil {
		if err := r.stream.Wait(free); err != nil {
			return nil, err
		}
	}
	filled, err := 0, r.slots[r.next].done.Sync() // the copy that last used this buffer
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		for len(part) > 0 {
			n := copy(r.slots[r.next].buffer.Bytes()[filled:], part)
			filled, part = filled+n, part[n:]
			if len(part) == 0 {
				break
			}
			if _, err := r.send(dst, filled); err != nil {
				return nil, err
			}
			dst, filled = dst+Address(filled), 0
			if err := r.slots[r.next].done.Sync(); err != nil {
				return nil, err
			}
		}
	}
	return r.send(dst, filled)
}

// send enqueues the copy of the next slot, and moves on.
func (r *Ring) send(dst Address, bytes int) (done *Event, err error) {
	s := &r.slots[r.next]
	r.next = (r.next + 1) % len(r.slots)
	if err := r.stream.UploadPinned(dst, s.buffer, bytes); err != nil {
		return nil, err
	}
	return s.done, r.stream.Record(s.done)
}

// Close waits for the copies and frees the buffers.
func (r *Ring) Close() error { return errors.Join(r.stream.Close(), closeSlots(r.slots)) }
