package ranks

import (
	"context"
	"errors"
	"fmt"
)

// ErrTimeout is wrapped where a rank did not come in time.
var ErrTimeout = errors.New("it has not come in time")

// LostError says which rank ended a group.
type LostError struct {
	Rank  int
	Name  string // of Group.Names
	Cause error
}

func (e *LostError) Error() string {
	return fmt.Sprintf("rank %d (%s): %v", e.Rank, e.Name, e.Cause)
}

func (e *LostError) Unwrap() error { return e.Cause }

// What a rank tells the others in Agree, in front of a text.
const (
	agreed      byte = '.'
	interrupted byte = 'i'
	failed      byte = 'e'
)

// maxTold bounds the text of an error that is told to the other ranks.
const maxTold = 4096

// Agree returns nil on every rank where err is nil on every rank. Otherwise it returns an error on every rank: its own
// where it has one, else a *LostError of the first rank that has one, which wraps context.Canceled where that rank was
// interrupted. The group goes on.
func Agree(g Group, err error) error {
	_, err = Exchange(g, nil, err)
	return err
}

// status is what a rank tells the others of err, which may be nil, as a part of a message of its own.
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

// heard is the error that the first rank with one has told by its status, as Agree returns it; nil where none has.
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
