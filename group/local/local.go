// Package local joins goroutines of one process as the ranks of a group, for tests and for measuring.
package local

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"nmn/group"
)

// ErrTimeout is wrapped where a rank did not come in time.
var ErrTimeout = errors.New("it has not come in time")

// New makes a group of n ranks, one for each goroutine. A call that waits for another rank longer than timeout fails
// with the name of that rank; 0 waits for ever.
func New(n int, timeout time.Duration) []group.Group {
	h := &hub{given: make([]any, n), here: make([]bool, n), timeout: timeout}
	h.turned = sync.NewCond(&h.mu)
	ranks := make([]group.Group, n)
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
	given  []any      // what they brought
	shown  []any      // what was brought to the last one
	lost   *group.LostError
}

// meet waits until every rank has brought something, and returns what they brought.
func (h *hub) meet(rank int, own any) ([]any, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost != nil {
		return nil, h.lost
	}
	h.here[rank], h.given[rank] = true, own
	if !slices.Contains(h.here, false) {
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
	for turn := h.turn; h.turn == turn && h.lost == nil; {
		h.turned.Wait()
	}
	if h.here[rank] { // the meeting did not take place
		return nil, h.lost
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
		h.end(missing, fmt.Errorf("%w (%v)", ErrTimeout, h.timeout))
	}
}

func (h *hub) end(rank int, cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost == nil {
		h.lost = &group.LostError{Rank: rank, Name: h.names[rank], Cause: cause}
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
	wire group.Wire
}

func (r *rank) Rank() int         { return r.rank }
func (r *rank) Size() int         { return len(r.hub.names) }
func (r *rank) Local() int        { return r.rank }
func (r *rank) LocalSize() int    { return r.Size() }
func (r *rank) Names() []string   { return r.hub.names }
func (r *rank) Abort(cause error) { r.hub.end(r.rank, cause) }

// Sum puts the work off to Wait, as late as the contract allows: who reads x too early reads wrong numbers.
func (r *rank) Sum(x []float32, wire group.Wire) error {
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
	all, err := r.hub.meet(r.rank, s)
	if err != nil {
		return err
	}
	total := make([]float32, len(s.x))
	for i, theirs := range all {
		other := theirs.(sum)
		if len(other.x) != len(s.x) || other.wire != s.wire {
			err := fmt.Errorf("group: rank %d adds %d numbers, rank %d %d", i, len(other.x), r.rank, len(s.x))
			r.Abort(err)
			return err
		}
		for j, v := range other.x {
			if s.wire == group.BFloat16 {
				v = rounded(v)
			}
			total[j] += v
		}
	}
	if s.wire == group.BFloat16 {
		for j, v := range total {
			total[j] = rounded(v)
		}
	}
	if _, err := r.hub.meet(r.rank, nil); err != nil {
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
	all, err := r.hub.meet(r.rank, slices.Clone(own))
	if err != nil {
		return nil, err
	}
	gathered := make([][]byte, len(all))
	for i, theirs := range all {
		gathered[i] = slices.Clone(theirs.([]byte))
	}
	return gathered, nil
}

func (r *rank) Broadcast(data []byte) error {
	all, err := r.hub.meet(r.rank, slices.Clone(data))
	if err != nil {
		return err
	}
	first := all[0].([]byte)
	if len(first) != len(data) {
		err := fmt.Errorf("group: rank 0 sends %d bytes, rank %d takes %d", len(first), r.rank, len(data))
		r.Abort(err)
		return err
	}
	copy(data, first)
	return nil
}

// Close waits for nobody: goroutines end by themselves.
func (r *rank) Close() error { return nil }
