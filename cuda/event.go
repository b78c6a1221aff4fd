//go:build cuda

package cuda

import (
	"time"

	"gorgonia.org/cu"
)

// Event marks a place in a stream, for other streams and the host to wait for.
type Event struct {
	device *Device
	event  cu.Event
}

// NewEvent makes an event. Only an event with timing can be passed to Elapsed. One without timing is cheaper.
func (d *Device) NewEvent(timing bool) (*Event, error) {
	if timing {
		return d.newEvent(cu.DefaultEvent)
	}
	return d.newEvent(cu.DisableTiming)
}

// NewWaitedEvent makes an event for the host to wait for. Its thread sleeps until then. With any other event
// it would keep a core busy.
func (d *Device) NewWaitedEvent() (*Event, error) {
	return d.newEvent(cu.DisableTiming | cu.BlockingSyncEvent)
}

func (d *Device) newEvent(flags cu.EventFlags) (*Event, error) {
	e := &Event{device: d}
	err := d.call("make an event", "", func() (err error) {
		e.event, err = cu.MakeEvent(flags)
		return err
	})
	if err != nil {
		return nil, err
	}
	d.own(e)
	return e, nil
}

// Close destroys the event.
func (e *Event) Close() error { return e.device.discard("destroy an event", "", e) }

func (e *Event) release() error { return cu.DestroyEvent(&e.event) }

// Record puts the event after the stream's current work. Recording it again moves it.
func (s *Stream) Record(e *Event) error {
	return s.device.call("record an event on the stream", s.name, func() error { return e.event.Record(s.stream) })
}

// Wait makes later work on the stream wait until the event has happened. An event that was never recorded has
// happened.
func (s *Stream) Wait(e *Event) error {
	return s.device.call("wait for an event on the stream", s.name, func() error { return s.stream.Wait(e.event, 0) })
}

// Sync makes the host wait for the event.
func (e *Event) Sync() error { return e.device.call("wait for an event", "", e.event.Synchronize) }

// Happened reports whether the event has happened. It does not wait, and does not start any work.
func (e *Event) Happened() (bool, error) {
	happened := true
	err := e.device.call("ask for an event", "", func() error {
		err := e.event.Query()
		if err == cu.NotReady {
			happened = false
			return nil
		}
		return err
	})
	return happened && err == nil, err
}

// Elapsed is the time from an event to a later one, both with timing and both happened, to about
// half a microsecond.
func (e *Event) Elapsed(later *Event) (time.Duration, error) {
	var milliseconds float64
	err := e.device.call("measure the time between events", "", func() (err error) {
		milliseconds, err = e.event.Elapsed(later.event)
		return err
	})
	return time.Duration(milliseconds * float64(time.Millisecond)), err
}
