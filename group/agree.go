package group

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

// Status is what a rank tells the others of err, which may be nil, as a part of a message of its own.
func Status(err error) []byte {
	switch {
	case errors.Is(err, context.Canceled):
		return []byte{interrupted}
	case err != nil:
		text := err.Error()
		return append([]byte{failed}, text[:min(len(text), maxTold)]...)
	}
	return []byte{agreed}
}

// Heard is the error that the first rank with one has told by its Status, as Agree returns it; nil where none has.
func Heard(g Group, status [][]byte) error {
	for rank, told := range status {
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

// SumOf adds the values of all ranks, in the order of the ranks: every rank gets the same bits. It is for a few
// numbers.
func SumOf(g Group, values []float64) error {
	if g.Size() == 1 {
		return nil
	}
	all, err := g.Gather(AppendFloat64s(nil, values...))
	if err != nil {
		return err
	}
	clear(values)
	for rank, theirs := range all {
		added, err := Float64s(theirs)
		if err != nil || len(added) != len(values) {
			return fmt.Errorf("group: rank %d adds %d bytes to %d numbers", rank, len(theirs), len(values))
		}
		for i, v := range added {
			values[i] += v
		}
	}
	return nil
}
