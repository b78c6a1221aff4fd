//go:build cuda

package cuda

import "errors"

// uploadRing is pinned memory through which a stream uploads. Uploads fill one slot after the other, so that
// the host fills one while the device reads the other. A slot's event follows the last upload from it. Small
// uploads share a slot, and need no event.
type uploadRing struct {
	slots  []slot
	at     int // of the slot that is being filled
	filled int // bytes of it that may be on their way
}

// Two slots keep the copy busy, as in a Staging.
const (
	asideSlots = stagingSlots
	asideBytes = stagingSlotBytes
)

// room is the rest of a slot, at least one byte.
func (a *uploadRing) room(s *Stream) ([]byte, error) {
	if len(a.slots) == 0 {
		if err := a.open(s.device); err != nil {
			return nil, err
		}
	}
	if a.filled == asideBytes {
		next := (a.at + 1) % len(a.slots)
		if err := s.Record(a.slots[a.at].done); err != nil {
			return nil, err
		}
		if err := a.slots[next].done.Sync(); err != nil {
			return nil, err
		}
		a.at, a.filled = next, 0
	}
	return a.slots[a.at].buffer.Bytes()[a.filled:], nil
}

func (a *uploadRing) open(d *Device) (err error) {
	a.slots, err = d.newSlots(asideSlots, asideBytes)
	return err
}

// close frees the slots. The stream has done its work.
func (a *uploadRing) close() error {
	err := closeSlots(a.slots)
	a.slots, a.filled = nil, 0
	return err
}

// newSlots makes pinned buffers of bytes each, all or none.
func (d *Device) newSlots(count, bytes int) (slots []slot, err error) {
	for range count {
		var s slot
		if s.buffer, err = d.AllocHost(bytes); err == nil {
			s.done, err = d.NewWaitedEvent()
		}
		slots = append(slots, s)
		if err != nil {
			return nil, errors.Join(err, closeSlots(slots))
		}
	}
	return slots, nil
}

// closeSlots frees buffers whose copies have ended.
func closeSlots(slots []slot) error {
	var err error
	for _, s := range slots {
		if s.done != nil {
			err = errors.Join(err, s.done.Close())
		}
		if s.buffer != nil {
			err = errors.Join(err, s.buffer.Close())
		}
	}
	return err
}
