package claim

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"
)

// beat gives signs of life until the claim is released or lost, which ends the context.
func (c *Claim) beat(ctx context.Context, cancel context.CancelCauseFunc, every time.Duration) {
	c.end = func() { cancel(context.Canceled) }
	c.beating.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		overtaken := 0
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			now := time.Now()
			err := os.Chtimes(name(c.path, c.generation), now, now) // what fails for a while may succeed the next time
			top, err2 := highest(c.path)
			if err2 == nil && top > c.generation {
				overtaken++
			} else {
				overtaken = 0
			}
			// A higher number may stand there for a moment: of somebody who looks whether it counts.
			if overtaken > 1 || errors.Is(err, fs.ErrNotExist) && top != c.generation {
				cancel(ErrLost)
				return
			}
		}
	})
}

// bootID names the running system, so that locks of its own are known from those of other hosts; empty where it has no
// name. Hosts can share theirs, and containers that of their host.
func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}
