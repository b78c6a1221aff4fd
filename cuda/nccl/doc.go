// Package nccl is NVIDIA's library of collectives between cards, NCCL, on devices of package cuda. It is built with the
// tag cuda; in other builds only the errors exist.
//
// The library is opened when the program runs, by Open, and no header of it is needed to build: layer.h declares the
// few functions that are called. One process has one card; ranks that are goroutines of one process, each with a device
// of its own, work as well.
package nccl

import (
	"errors"

	"nmn/ranks"
)

// Causes for which a caller can do something else.
var (
	// ErrNoLibrary: libnccl is not on this host, or too old.
	ErrNoLibrary = errors.New("no NCCL")
	// ErrAborted: the communicator was given up, here or, as far as NCCL notices, by another rank.
	ErrAborted = errors.New("the ranks no longer work together")
	// ErrTimeout is wrapped by the errors of collectives that have not ended in time.
	ErrTimeout = ranks.ErrTimeout
)
