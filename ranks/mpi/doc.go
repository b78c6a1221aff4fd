// Package mpi joins the processes that mpirun, srun or a cluster's operator has started, by MPI. It needs a
// build with cgo and the tag mpi (Open MPI) or mpich (MPICH). In other builds Open returns an error that
// explains this.
//
// Starting, ranks and ending use cogentcore.org/lab/base/mpi. That binding has only blocking calls, which
// keep a processor busy while they wait. Sums that overlap with computing use MPI's non-blocking collectives,
// which engine.c calls. All MPI calls are made by one goroutine that is locked to its thread.
//
// Each call begins with a roll call: every rank sends every other the kind of the call, and small data with
// it. Calls that do not match are refused on all ranks instead of waiting for ever, and messages name a rank
// that does not arrive. A sum is made in pieces: each rank gets its part of a piece from all others, adds it
// in the order of the ranks, and sends the result to all. The bits of a sum depend neither on MPI's
// algorithms nor on the network.
package mpi

import (
	"errors"
	"time"
)

// ErrMissing is what Open returns in a build without MPI.
var ErrMissing = errors.New("this program was built without MPI; install Open MPI (openmpi-bin and libopenmpi-dev) " +
	"or MPICH, and build it with CGO_ENABLED=1 go build -tags mpi (-tags mpich for MPICH)")

// Options of a group.
type Options struct {
	// Timeout is the time that a call waits for a rank before it ends the job; 0 waits for ever.
	Timeout time.Duration

	piece int           // numbers that are summed at once, where tests want others
	soon  time.Duration // timeout once the group is open, where tests want a shorter one
}
