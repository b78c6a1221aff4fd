// Package localtest runs tests on several ranks, each a goroutine.
package localtest

import (
	"errors"
	"sync"
	"time"

	"nmn/group"
	"nmn/group/local"
)

// errLeft ends the group of a rank that is done.
var errLeft = errors.New("it has left")

// Run calls f on each of n ranks, and returns their errors, in the order of the ranks. When a rank has returned, the calls
// of those that still wait for it fail: a test that would hang ends.
func Run(n int, f func(g group.Group) error) []error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for rank, g := range local.New(n, time.Minute) {
		all.Go(func() {
			defer g.Abort(errLeft)
			errs[rank] = f(g)
		})
	}
	all.Wait()
	return errs
}

// Each is Run for what returns nothing.
func Each(n int, f func(g group.Group)) {
	Run(n, func(g group.Group) error {
		f(g)
		return nil
	})
}
