package mpi

import "errors"

// ErrMissing is what Open returns in a build without MPI.
var ErrMissing = errors.New("this program was built without MPI; install Open MPI (openmpi-bin and libopenmpi-dev) " +
	"or MPICH, and build it with CGO_ENABLED=1 go build -tags mpi (-tags mpich for MPICH)")
