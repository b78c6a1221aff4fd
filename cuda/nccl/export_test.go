//go:build cuda

package nccl

import (
	"time"

	"nmn/group"
)

// SetTimeout gives a Comm whose ranks have joined another timeout.
func (c *Comm) SetTimeout(timeout time.Duration) {
	c.watch.mu.Lock()
	defer c.watch.mu.Unlock()
	c.options.Timeout = timeout
}

// SetTimeout does so to the Comm of a group.
func SetTimeout(g group.Group, timeout time.Duration) { g.(*ranks).comm.SetTimeout(timeout) }
