//go:build !windows

package main

import (
	"errors"
	"os"
	"syscall"
)

// warnings returns the signals with which schedulers warn that the time of a job is nearly over, such as SLURM's
// --signal=USR1@300. mpirun passes SIGUSR1 on to all ranks and leaves them the time they need.
func warnings() []os.Signal { return []os.Signal{syscall.SIGUSR1} }

// readerGone reports whether an error of writing says that a pipe or a connection has no reader any more.
func readerGone(err error) bool { return errors.Is(err, syscall.EPIPE) }
