// Package lock keeps other processes away from what one of them is writing. Locks are those of the kernel, which takes
// them back when their process ends, however it ends: none is ever left behind.
package lock

import "errors"

var (
	// ErrHeld is wrapped by errors about a lock that another process holds, or another place of this one.
	ErrHeld = errors.New("somebody else holds the lock")
	// ErrUnsupported is wrapped by errors about a system, or a file system such as some network ones, without locks.
	ErrUnsupported = errors.New("there are no locks here")
)
