// Package localtest runs tests on several ranks, each a goroutine.
package localtest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"nmn/ranks"
	"nmn/ranks/local"
)

// errLeft ends the group of a rank that is done.
var errLeft = errors.New("it has left")

// Run calls f on each of n ranks, and returns their errors, in the order of the ranks. When a rank has returned, the
// calls of those that still wait for it fail: a test that would hang ends.
func Run(n int, f func(g ranks.Group) error) []error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for rank, g := range local.New(n, time.Hour) {
		all.Go(func() {
			defer g.Abort(errLeft)
			errs[rank] = f(g)
		})
	}
	all.Wait()
	return errs
}

// Check is Run where no rank may fail. what says what they do.
func Check(t testing.TB, n int, what string, f func(g ranks.Group) error) {
	t.Helper()
	for rank, err := range Run(n, f) {
		if err != nil {
			t.Errorf("%s, rank %d of %d: %v", what, rank, n, err)
		}
	}
}

// Each is Run for what returns nothing.
func Each(n int, f func(g ranks.Group)) {
	Run(n, func(g ranks.Group) error {
		f(g)
		return nil
	})
}

var errCut = errors.New("the connection is cut")

// cutOff is a group whose exchanges work until the given number is done. The next one fails.
type cutOff struct {
	ranks.Group
	after int
}

func (c *cutOff) Gather(own []byte) ([][]byte, error) {
	if c.after--; c.after == -1 {
		return nil, errCut
	}
	return c.Group.Gather(own)
}

// CutOff calls f on two ranks again and again: the first exchange of rank 1 fails, then its second one, and so on,
// until none does. It returns the number of exchanges, and an error if one failed and f did not on both ranks.
func CutOff(f func(g ranks.Group) error) (exchanges int, err error) {
	for ; ; exchanges++ {
		errs := Run(2, func(g ranks.Group) error {
			if g.Rank() == 1 {
				g = &cutOff{g, exchanges}
			}
			return f(g)
		})
		if errs[0] == nil && errs[1] == nil {
			return exchanges, err
		}
		if errs[0] == nil || !errors.Is(errs[1], errCut) {
			err = errors.Join(err, fmt.Errorf("after %d exchanges rank 1 is cut off: errors %v", exchanges, errs))
		}
	}
}
