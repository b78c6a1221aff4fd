package local

import "time"

// Timeout implements group.Timed.
func (r *rank) Timeout() time.Duration { return r.hub.timeout }
