//go:build !windows

package main

import (
	"errors"
	"syscall"
)

// readerGone reports whether an error of writing says that a pipe or a connection has no reader any more.
func readerGone(err error) bool { return errors.Is(err, syscall.EPIPE) }
