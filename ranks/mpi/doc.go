// Package mpi joins the processes that mpirun, srun or a cluster's operator has started, by MPI. It needs a build with
// the tag mpi (Open MPI) or mpich (MPICH) and cgo; other builds have an Open that says so.
//
// Starting, ranks and ending are those of cogentcore.org/lab/base/mpi. That binding has blocking calls alone, which
// keep a processor busy while they wait; sums that go on beside computing take MPI's non-blocking collectives, which
// engine.c calls. All MPI calls are made by one goroutine that is locked to its thread.
//
// Each call begins with a roll call: every rank tells every other what it is about to do, and small data with it. So
// calls that do not fit together are refused on all ranks instead of waiting for ever, and a rank that does not come
// is known by name. A sum is made in pieces: each rank gets its part of a piece from all others, adds it in the order
// of the ranks, and gives the result to all. The bits of a sum depend on neither MPI's algorithms nor the network.
package mpi

import "time"

// Options of a group.
type Options struct {
	// Timeout is how long a call waits for a rank before it ends the job; 0 waits for ever.
	Timeout time.Duration

	piece int           // numbers that are summed at once, where tests want others
	soon  time.Duration // timeout once the group is open, where tests want a shorter one
}
