package telemetry

import (
	"fmt"
	"sync"
	"time"
)

const (
	// patience is how long a training may take for one step, or for one batch of a validation, before it counts as
	// hanging: what a first step takes, with the choice of convolutions on a graphics card, is far below it.
	patience = 10 * time.Minute
	// slack is how many times its longest step a training may take, where that is more.
	slack = 20
)

// pulse knows when a training last got ahead. Its methods may be called from any goroutine.
type pulse struct {
	mu      sync.Mutex
	last    time.Time     // zero while nothing is expected: before the first step, and between trainings
	longest time.Duration // of the steps and batches of this training
}

// beat says that a step, or a batch of a validation, has ended at a time.
func (p *pulse) beat(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.last.IsZero() {
		p.longest = max(p.longest, now.Sub(p.last))
	}
	p.last = now
}

// rest says that no step is expected until the next beat.
func (p *pulse) rest() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.longest = time.Time{}, 0
}

// stalled is an error where a training is at work and has not got ahead for too long.
func (p *pulse) stalled(now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	limit := max(patience, slack*p.longest)
	if age := now.Sub(p.last); !p.last.IsZero() && age > limit {
		return fmt.Errorf("no step and no part of a validation has ended for %s, and %s is the most that is expected: "+
			"a device, a disk or a network file system hangs", age.Round(time.Second), limit.Round(time.Second))
	}
	return nil
}
