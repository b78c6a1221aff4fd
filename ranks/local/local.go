// Package local joins goroutines of one process as the ranks of a group, for tests and for measuring.
package local

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"nmn/ranks"
)

// New makes a group of n ranks, one for each goroutine. A call that waits for another rank longer than timeout fails
// with the name of that rank; 0 waits for ever.
func New(n int, timeout time.Duration) []ranks.Group {
	h := &hub{given: make([]call, n), here: make([]bool, n), timeout: timeout}
	h.turned = sync.NewCond(&h.mu)
	ranks := make([]ranks.Group, n)
	for i := range ranks {
		ranks[i] = &rank{hub: h, rank: i}
		h.names = append(h.names, fmt.Sprintf("goroutine %d", i))
	}
	return ranks
}

// hub is where the ranks meet, one call after the other.
type hub struct {
	names   []string
	timeout time.Duration

	mu     sync.Mutex
	turned *sync.Cond // a meeting has ended, or the group has
	turn   int        // meetings that have ended
	here   []bool     // ranks at the present meeting
	given  []call     // calls of the ranks
	shown  []call     // calls of the last round
	over   error      // error that ended the group
}

// call is a rank's contribution to a meeting.
type call struct {
	name string
	wire ranks.Wire
	x    []float32 // for a sum
	data []byte    // for other calls
}

// misfit returns an error where the calls of two ranks do not belong together.
func misfit(all []call) error {
	first := all[0]
	for rank, c := range all {
		switch {
		case c.name != first.name:
			return fmt.Errorf("group: rank 0 is at a %s, rank %d at a %s", first.name, rank, c.name)
		case c.wire != first.wire:
			return fmt.Errorf("group: rank 0 sums on wire %d, rank %d on wire %d", first.wire, rank, c.wire)
		case c.name == "sum" && len(c.x) != len(first.x):
			return fmt.Errorf("group: rank 0 adds %d numbers, rank %d %d", len(first.x), rank, len(c.x))
		case c.name == "broadcast" && len(c.data) != len(first.data):
			return fmt.Errorf("group: rank 0 sends %d bytes, rank %d takes %d", len(first.data), rank, len(c.data))
		}
	}
	return nil
}

// meet waits until every rank has brought a call, and returns their calls.
func (h *hub) meet(rank int, own call) ([]call, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over != nil {
		return nil, h.over
	}
	h.here[rank], h.given[rank] = true, own
	if !slices.Contains(h.here, false) {
		if h.over = misfit(h.given); h.over != nil {
			h.turned.Broadcast()
			return nil, h.over
		}
		h.shown = slices.Clone(h.given)
		clear(h.here)
		h.turn++
		h.turned.Broadcast()
		return h.shown, nil
	}
	if h.timeout > 0 {
		turn := h.turn
		defer time.AfterFunc(h.timeout, func() { h.late(turn) }).Stop()
	}
	for turn := h.turn; h.turn == turn && h.over == nil; {
		h.turned.Wait()
	}
	if h.here[rank] { // the meeting did not take place
		return nil, h.over
	}
	return h.shown, nil
}

// late ends the group because a rank has not come to a meeting.
func (h *hub) late(turn int) {
	h.mu.Lock()
	missing := slices.Index(h.here, false)
	over := h.turn != turn
	h.mu.Unlock()
	if !over {
		h.end(missing, fmt.Errorf("%w (%v)", ranks.ErrTimeout, h.timeout))
	}
}

func (h *hub) end(rank int, cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over == nil {
		h.over = &ranks.LostError{Rank: rank, Name: h.names[rank], Cause: cause}
		h.turned.Broadcast()
	}
}

// rank is one rank's end of a hub.
type rank struct {
	hub  *hub
	rank int
	sums []sum
}

// sum is one that was begun.
type sum struct {
	x    []float32
	wire ranks.Wire
}

func (r *rank) Rank() int              { return r.rank }
func (r *rank) Size() int              { return len(r.hub.names) }
func (r *rank) Local() int             { return r.rank }
func (r *rank) LocalSize() int         { return r.Size() }
func (r *rank) Names() []string        { return r.hub.names }
func (r *rank) Timeout() time.Duration { return r.hub.timeout }
func (r *rank) Abort(cause error)      { r.hub.end(r.rank, cause) }

// Sum delays the work until Wait, as late as the contract allows: a caller that reads x too early reads wrong
// numbers.
func (r *rank) Sum(x []float32, wire ranks.Wire) error {
	r.sums = append(r.sums, sum{x, wire})
	return nil
}

func (r *rank) Wait() error {
	for _, s := range r.sums {
		if err := r.add(s); err != nil {
			return err
		}
	}
	r.sums = r.sums[:0]
	return nil
}

// add sums one array: each rank shows its own, makes the whole sum aside, and takes it when all have done so.
func (r *rank) add(s sum) error {
	all, err := r.hub.meet(r.rank, call{name: "sum", wire: s.wire, x: s.x})
	if err != nil {
		return err
	}
	total := make([]float32, len(s.x))
	for _, theirs := range all {
		for j, v := range theirs.x {
			if s.wire == ranks.BFloat16 {
				v = rounded(v)
			}
			total[j] += v
		}
	}
	if s.wire == ranks.BFloat16 {
		for j, v := range total {
			total[j] = rounded(v)
		}
	}
	if _, err := r.hub.meet(r.rank, call{name: "sum"}); err != nil {
		return err
	}
	copy(s.x, total)
	return nil
}

// rounded is the nearest bfloat16, ties to even.
func rounded(v float32) float32 {
	if v != v {
		return v
	}
	b := math.Float32bits(v)
	return math.Float32frombits((b + 0x7fff + b>>16&1) &^ 0xffff)
}

func (r *rank) Gather(own []byte) ([][]byte, error) {
	all, err := r.hub.meet(r.rank, call{name: "gather", data: slices.Clone(own)})
	if err != nil {
		return nil, err
	}
	gathered := make([][]byte, len(all))
	for i, theirs := range all {
		gathered[i] = slices.Clone(theirs.data)
	}
	return gathered, nil
}

func (r *rank) Broadcast(data []byte) error {
	all, err := r.hub.meet(r.rank, call{name: "broadcast", data: slices.Clone(data)})
	if err != nil {
		return err
	}
	copy(data, all[0].data)
	return nil
}

// Close does not wait: goroutines end by themselves.
func (r *rank) Close() error { return nil }
