//go:build cuda

package nccl

// #cgo noescape nmn_nccl_async_error
// #cgo nocallback nmn_nccl_async_error
// #include "layer.h"
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"nmn/cuda"
)

// watched is the number of the latest collectives with an event after them. If more are under way, the oldest
// are assumed to end with the next ones.
const watched = 16

// watch watches a Comm in parallel with the work: for errors after a call, and for collectives that do not
// end.
type watch struct {
	comm *Comm
	stop chan struct{}
	done chan struct{} // closed when the goroutine has ended

	mu     sync.Mutex // guards the fields below
	events []*cuda.Event
	names  [watched]string
	issued uint64    // collectives; number n, from 0, is marked by events[n % watched]
	ended  uint64    // how many of them have ended
	since  time.Time // since when the oldest is waited for
}

// look is how often the goroutine looks.
func look(timeout time.Duration) time.Duration {
	return min(max(timeout/10, time.Millisecond), 200*time.Millisecond)
}

func (w *watch) open(c *Comm) error {
	w.comm = c
	for range watched {
		e, err := c.device.NewEvent(false)
		if err != nil {
			return err
		}
		w.events = append(w.events, e)
	}
	w.stop, w.done = make(chan struct{}), make(chan struct{})
	go w.run(look(w.comm.options.Timeout))
	return nil
}

func (w *watch) close() error {
	if w.stop != nil {
		close(w.stop)
		<-w.done
	}
	var err error
	for _, e := range w.events {
		err = errors.Join(err, e.Close())
	}
	w.events = nil
	return err
}

// mark notes a collective that was enqueued.
func (w *watch) mark(name string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.issued % watched
	if err := w.comm.stream.Record(w.events[at]); err != nil {
		return err
	}
	w.names[at] = name
	if w.issued == w.ended {
		w.since = time.Now()
	}
	w.issued++
	return nil
}

func (w *watch) run(every time.Duration) {
	defer close(w.done)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-tick.C:
		}
		err := w.comm.asyncError()
		if err == nil {
			err = w.late()
		}
		if err != nil {
			w.comm.giveUp(err)
			return
		}
	}
}

// late returns an error if the oldest collective has been under way for too long.
func (w *watch) late() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = max(w.ended, w.issued-min(w.issued, watched))
	for w.ended < w.issued {
		happened, err := w.events[w.ended%watched].Happened()
		if err != nil {
			return err
		}
		if !happened {
			break
		}
		w.ended++
		w.since = time.Now()
	}
	timeout := w.comm.options.Timeout
	if w.ended == w.issued || time.Since(w.since) < timeout {
		return nil
	}
	return fmt.Errorf("nccl: an %s has not ended within %v: another rank hangs or has ended, or the work before it on "+
		"this card does not end: %w", w.names[w.ended%watched], timeout, ErrTimeout)
}

// asyncError asks NCCL for errors since the last call.
func (c *Comm) asyncError() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.handle == nil {
		return nil
	}
	var code C.int
	if err := check("ask for errors", C.nmn_nccl_async_error(c.handle, &code), c.handle); err != nil {
		return err
	}
	const inProgress = 7
	if code == inProgress {
		return nil
	}
	return check("a collective under way", code, c.handle)
}
