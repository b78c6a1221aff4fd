package kernels

import (
	"errors"
	"fmt"
)

// A GraphCache does recurring work: at once or, on a device that records, as one graph. The first time, it
// does a piece of work call by call, so that plans are chosen and workspaces grow. The second time it records
// it. From then on the work is one launch. K identifies a piece of work: equal keys mean equal calls on the
// same memory.
type GraphCache[K interface {
	comparable
	fmt.Stringer
}] struct {
	recorder Card // nil if nothing is recorded
	most     int
	known    map[K]*replay
	clock    uint64 // counts uses
}

// replay is work that was done before. graph is nil until it comes the second time.
type replay struct {
	graph Graph
	used  uint64
}

// NewGraphCache keeps a limited number of pieces of work of a backend. It drops the least recently used one
// first.
func NewGraphCache[K interface {
	comparable
	fmt.Stringer
}](backend Backend, most int) *GraphCache[K] {
	r := &GraphCache[K]{most: most, known: map[K]*replay{}}
	if recorder, ok := backend.(Card); ok && recorder.Captures() {
		r.recorder = recorder
	}
	return r
}

// Records reports whether work is recorded.
func (r *GraphCache[K]) Records() bool { return r.recorder != nil }

// Graphs is the number of graphs that are held.
func (r *GraphCache[K]) Graphs() (count int) {
	for _, p := range r.known {
		if p.graph != nil {
			count++
		}
	}
	return count
}

// Do enqueues work, which run enqueues call by call.
func (r *GraphCache[K]) Do(work K, run func() error) error {
	if r.recorder == nil {
		return run()
	}
	r.clock++
	p, ok := r.known[work]
	if !ok {
		if err := run(); err != nil {
			return err
		}
		r.known[work] = &replay{used: r.clock}
		return r.bound()
	}
	p.used = r.clock
	if p.graph == nil {
		var err error
		if p.graph, err = r.recorder.Capture(work.String(), run); err != nil {
			return fmt.Errorf("%w (`run.no_graphs` records nothing)", err)
		}
	}
	return p.graph.Launch()
}

// bound closes the least recently used graphs if there are too many.
func (r *GraphCache[K]) bound() error {
	if len(r.known) <= r.most {
		return nil
	}
	var oldest K
	used := r.clock + 1
	for work, p := range r.known {
		if p.used < used {
			oldest, used = work, p.used
		}
	}
	p := r.known[oldest]
	delete(r.known, oldest)
	return p.close()
}

func (p *replay) close() error {
	if p.graph == nil {
		return nil
	}
	return p.graph.Close()
}

// Close frees all graphs.
func (r *GraphCache[K]) Close() error {
	var errs []error
	for _, p := range r.known {
		errs = append(errs, p.close())
	}
	clear(r.known)
	return errors.Join(errs...)
}
