package tensor

import "time"

// patience is how long a goroutine spins for work, or for its end, before it sleeps. If work came soon, it
// spins the next time too. If work is slow to come, as on a machine that is busy with other programs, it
// leaves the processor to others.
type patience struct {
	limit time.Duration // 0 for none at all
	since time.Time     // when it began to look
}

// Limits of patience. The larger one is more than a step does between two operations. soon also includes the
// time that the system takes to wake a goroutine on an idle machine.
const (
	leastPatience = 2 * time.Microsecond
	mostPatience  = 64 * time.Microsecond
	soon          = 100 * time.Microsecond
)

// look waits for something to happen and reports whether it has.
func (p *patience) look(happened func() bool) bool {
	if happened() {
		return true
	}
	if p.limit == 0 {
		return false
	}
	p.since = time.Now()
	for time.Since(p.since) < p.limit {
		if happened() {
			return true
		}
	}
	return false
}

// slept adapts to a wait that spinning did not end.
func (p *patience) slept() {
	switch {
	case p.limit == 0:
	case time.Since(p.since) < soon:
		p.limit = min(2*p.limit, mostPatience)
	default:
		p.limit = max(p.limit/2, leastPatience)
	}
}
