package localtest_test

import (
	"errors"
	"slices"
	"testing"

	"nmn/ranks"
	"nmn/ranks/local/localtest"
)

func TestRun_CallsEachRankAndKeepsTheirErrors(t *testing.T) {
	broken := errors.New("broken")
	var met [3]int
	errs := localtest.Run(3, func(g ranks.Group) error {
		all, err := g.Gather([]byte{byte(g.Rank())})
		met[g.Rank()] = len(all)
		if g.Rank() == 1 {
			return broken
		}
		return err
	})
	if met != [3]int{3, 3, 3} || !slices.Equal(errs, []error{nil, broken, nil}) {
		t.Errorf("%v ranks met, errors %v", met, errs)
	}
}

func TestEach_NobodyWaitsForARankThatHasLeft(t *testing.T) {
	localtest.Each(2, func(g ranks.Group) {
		if g.Rank() == 1 {
			return
		}
		var lost *ranks.LostError
		if _, err := g.Gather(nil); !errors.As(err, &lost) || lost.Rank != 1 {
			t.Errorf("%v, want an error that names rank 1", err)
		}
	})
}
