package ranks

import (
	"context"
	"errors"
	"fmt"
)

// ErrTimeout is wrapped by the error about a rank that did not arrive in time.
var ErrTimeout = errors.New("it did not arrive in time")

// LostError names the rank that ended a group.
type LostError struct {
	Rank  int
	Name  string // from Group.Names
	Cause error
}

func (e *LostError) Error() string {
	return fmt.Sprintf("rank %d (%s): %v", e.Rank, e.Name, e.Cause)
}

func (e *LostError) Unwrap() error { return e.Cause }

// Status bytes that a rank sends to the others in Agree, followed by a text.
const (
	agreed      byte = '.'
	interrupted byte = 'i'
	failed      byte = 'e'
)

// maxTold bounds the text of an error that is sent to the other ranks.
const maxTold = 4096

// Agree returns nil on every rank if err is nil on every rank. Otherwise it returns an error on every rank:
// the rank's own error if it has one, else a *LostError of the first rank that has one. The *LostError wraps
// context.Canceled if that rank was interrupted. The group goes on.
func Agree(g Group, err error) error {
	_, err = Exchange(g, nil, err)
	return err
}

// status encodes err, which may be nil, as a part of a rank's own message to the others.
func status(err error) []byte {
	switch {
	case errors.Is(err, context.Canceled):
		return []byte{interrupted}
	case err != nil:
		text := err.Error()
		return append([]byte{failed}, text[:min(len(text), maxTold)]...)
	}
	return []byte{agreed}
}

// heard returns the error in the status of the first rank that has one, as Agree returns it; nil if none has.
func heard(g Group, all [][]byte) error {
	for rank, told := range all {
		if len(told) == 0 || told[0] == agreed {
			continue
		}
		lost := &LostError{Rank: rank, Name: g.Names()[rank], Cause: context.Canceled}
		if told[0] == failed {
			lost.Cause = errors.New(string(told[1:]))
		}
		return lost
	}
	return nil
}
