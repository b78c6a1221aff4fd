// Package lock keeps other processes away from files that one process is writing. The kernel holds the locks
// and releases them when their process ends in any way, so none is left over.
package lock

import "errors"

var (
	// ErrHeld is wrapped by errors about a lock that another process holds, or another part of this one.
	ErrHeld = errors.New("another process holds the lock")
	// ErrUnsupported is wrapped by errors about a system, or a file system such as some network ones, without locks.
	ErrUnsupported = errors.New("there are no locks here")
)
