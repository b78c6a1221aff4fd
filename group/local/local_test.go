package local_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"nmn/group"
	"nmn/group/local"
)

// onEach runs f on each rank of a group of n, and returns its errors.
func onEach(n int, timeout time.Duration, f func(group.Group) error) []error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i, g := range local.New(n, timeout) {
		all.Go(func() { errs[i] = f(g) })
	}
	all.Wait()
	return errs
}

func TestLocal_TellsWhoHasNotCome(t *testing.T) {
	for rank, err := range onEach(3, 50*time.Millisecond, func(g group.Group) error {
		if g.Rank() == 1 {
			return nil
		}
		_, err := g.Gather(nil)
		return err
	}) {
		var lost *group.LostError
		if rank != 1 && (!errors.As(err, &lost) || lost.Rank != 1 || !errors.Is(err, group.ErrTimeout)) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

func TestAgree_EveryRankHearsOfAnError(t *testing.T) {
	broken := errors.New("its disk is full")
	for rank, err := range onEach(4, time.Minute, func(g group.Group) error {
		if g.Rank() == 2 {
			return group.Agree(g, broken)
		}
		return group.Agree(g, nil)
	}) {
		if rank == 2 {
			if err != broken {
				t.Errorf("rank 2 gets %v", err)
			}
		} else if err == nil || err.Error() != "rank 2 (goroutine 2): its disk is full" {
			t.Errorf("rank %d gets %v", rank, err)
		}
	}
}

func TestSum_IsDoneBehindWait(t *testing.T) {
	for rank, err := range onEach(3, time.Minute, func(g group.Group) error {
		x := []float32{float32(g.Rank()), 1}
		if err := errors.Join(g.Sum(x, group.Float32), g.Wait()); err != nil {
			return err
		}
		if x[0] != 3 || x[1] != 3 {
			return errors.New("wrong sum")
		}
		return nil
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}
