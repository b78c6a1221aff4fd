//go:build !(cgo && (mpi || mpich))

package mpi

import "nmn/ranks"

// built reports whether this build has MPI.
const built = false

// Open fails: this build has no MPI.
func Open(Options) (ranks.Group, error) { return nil, ErrMissing }
