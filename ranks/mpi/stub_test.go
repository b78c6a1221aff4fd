//go:build !(cgo && (mpi || mpich))

package mpi

import (
	"errors"
	"testing"
)

func TestOpen_SaysThatThisBuildHasNoMPI(t *testing.T) {
	if g, err := Open(Options{}); g != nil || !errors.Is(err, ErrMissing) || built {
		t.Errorf("%v, %v", g, err)
	}
}
