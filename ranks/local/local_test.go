package local_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nmn/ranks"
	"nmn/ranks/local"
	"nmn/tools/ranksuite"
)

// check reports the errors of ranks.
func check(t *testing.T, what string, errs []error) {
	t.Helper()
	for rank, err := range errs {
		if err != nil {
			t.Errorf("%s, rank %d of %d: %v", what, rank, len(errs), err)
		}
	}
}

// onEach runs f on each rank of a group of n, and returns its errors. Time passes only while all ranks wait.
func onEach(t *testing.T, n int, timeout time.Duration, f func(ranks.Group) error) []error {
	t.Helper()
	errs := make([]error, n)
	synctest.Test(t, func(*testing.T) {
		var all sync.WaitGroup
		for i, g := range local.New(n, timeout) {
			all.Go(func() { errs[i] = f(g) })
		}
		all.Wait()
	})
	return errs
}

func TestLocal_TellsWhoHasNotCome(t *testing.T) {
	for rank, err := range onEach(t, 3, 50*time.Millisecond, func(g ranks.Group) error {
		if g.Rank() == 1 {
			return nil
		}
		_, err := g.Gather(nil)
		return err
	}) {
		var lost *ranks.LostError
		if rank != 1 && (!errors.As(err, &lost) || lost.Rank != 1 || !errors.Is(err, ranks.ErrTimeout)) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

func TestLocal_KeepsTheContract(t *testing.T) {
	for n := 1; n <= 4; n++ {
		check(t, "the contract", onEach(t, n, time.Minute, func(g ranks.Group) error {
			var wrong []error
			for name, err := range ranksuite.Run(g) {
				wrong = append(wrong, fmt.Errorf("%s: %w", name, err))
			}
			return errors.Join(append(wrong, g.Close())...)
		}))
	}
}

func TestLocal_EndsAsTheContractSays(t *testing.T) {
	for _, c := range ranksuite.Endings() {
		for n := 2; n <= 3; n++ {
			check(t, c.Name, onEach(t, n, 100*time.Millisecond, c.Run))
		}
	}
}

func TestLocal_WaitsWithoutTimeout(t *testing.T) {
	check(t, "no timeout", onEach(t, 2, 0, func(g ranks.Group) error {
		time.Sleep(time.Duration(g.Rank()) * 24 * time.Hour)
		_, err := g.Gather(nil)
		return err
	}))
}

func TestSum_IsDoneBehindWait(t *testing.T) {
	check(t, "a sum", onEach(t, 3, time.Minute, func(g ranks.Group) error {
		x := []float32{float32(g.Rank()), 1}
		if err := errors.Join(g.Sum(x, ranks.Float32), g.Wait()); err != nil {
			return err
		}
		if x[0] != 3 || x[1] != 3 {
			return errors.New("wrong sum")
		}
		return nil
	}))
}
