//go:build !windows

package main

import (
	"os"
	"syscall"
)

// warnings are the signals by which schedulers say that the time of a job is nearly over: SLURM's --signal=USR1@300,
// and the one that mpirun passes on to all ranks at once and then leaves them the time they need.
func warnings() []os.Signal { return []os.Signal{syscall.SIGUSR1} }
