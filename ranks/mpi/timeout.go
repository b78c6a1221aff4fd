//go:build cgo && (mpi || mpich)

package mpi

import "time"

// Timeout implements group.Timed.
func (r *rank) Timeout() time.Duration { return r.timeout }
