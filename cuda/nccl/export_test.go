//go:build cuda

package nccl

import (
	"time"

	"nmn/ranks"
)

// SetTimeout gives a Comm whose ranks have joined another timeout.
func (c *Comm) SetTimeout(timeout time.Duration) {
	c.watch.mu.Lock()
	defer c.watch.mu.Unlock()
	c.options.Timeout = timeout
}

// SetTimeout does so to the Comm of a group.
func SetTimeout(g ranks.Group, timeout time.Duration) { g.(*cardGroup).comm.SetTimeout(timeout) }
