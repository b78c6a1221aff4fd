// Package nccl calls NVIDIA's library of collectives between cards, NCCL, on devices of package cuda. It is
// built with the tag cuda. In other builds only the errors exist.
//
// Open opens the library when the program runs. Building needs no header of it: layer.h declares the few
// functions that are called. One process has one card. Ranks may also be goroutines of one process, each with
// its own device.
package nccl

import (
	"errors"

	"nmn/ranks"
)

// Errors that a caller can handle.
var (
	// ErrNoLibrary: libnccl is not on this host, or too old.
	ErrNoLibrary = errors.New("no NCCL")
	// ErrAborted: the communicator was given up, here or, if NCCL notices, by another rank.
	ErrAborted = errors.New("the ranks no longer work together")
	// ErrTimeout is wrapped by the errors of collectives that have not ended in time.
	ErrTimeout = ranks.ErrTimeout
)
