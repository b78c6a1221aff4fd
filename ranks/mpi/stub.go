//go:build !(cgo && (mpi || mpich))

package mpi

import "nmn/ranks"

// Built reports whether this build has MPI.
const Built = false

// Open fails: this build has no MPI.
func Open(Options) (ranks.Group, error) { return nil, ErrMissing }
