package main

import (
	"errors"
	"os"
	"syscall"
)

// warnings returns nil: schedulers cannot send such signals on Windows.
func warnings() []os.Signal { return nil }

// noData is ERROR_NO_DATA: the pipe is being closed.
const noData = syscall.Errno(232)

// readerGone reports whether an error of writing says that a pipe has no reader any more.
func readerGone(err error) bool {
	return errors.Is(err, syscall.ERROR_BROKEN_PIPE) || errors.Is(err, noData)
}
