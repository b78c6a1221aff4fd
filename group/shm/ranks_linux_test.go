package shm

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"nmn/group"
	"nmn/group/local"
)

// onRanks runs f on n ranks of this process.
func onRanks(t *testing.T, n int, f func(g group.Group) error) {
	t.Helper()
	var all sync.WaitGroup
	for _, g := range local.New(n, time.Hour) {
		all.Go(func() {
			if err := f(g); err != nil {
				t.Errorf("rank %d: %v", g.Rank(), err)
				g.Abort(err)
			}
		})
	}
	all.Wait()
}

// Every rank sees what the others have written, in rooms of any size, and after others have given the memory back.
func TestShare_AllRanksSeeAllRooms(t *testing.T) {
	for _, n := range []int{1, 2, 4} {
		onRanks(t, n, func(g group.Group) error {
			own := 5000 * g.Rank() // rank 0 has none
			m, err := Share(g, own)
			if err != nil {
				return err
			}
			if len(m.Ranks) != n || len(m.Ranks[g.Rank()]) < own {
				return fmt.Errorf("%d rooms, of which this rank's has %d numbers", len(m.Ranks), len(m.Ranks[g.Rank()]))
			}
			for i := range own {
				m.Ranks[g.Rank()][i] += float32(g.Rank()*100000 + i)
			}
			if _, err := g.Gather(nil); err != nil {
				return err
			}
			if g.Rank() == 0 && n > 1 {
				return m.Close()
			}
			for rank, room := range m.Ranks {
				for i := range 5000 * rank {
					if room[i] != float32(rank*100000+i) {
						return fmt.Errorf("number %d of rank %d is %v", i, rank, room[i])
					}
				}
			}
			return errors.Join(m.Close(), m.Close())
		})
	}
}

// far is a group whose ranks are on hosts of their own.
type far struct{ group.Group }

func (far) LocalSize() int { return 1 }

func notShared(err error, reason string) error {
	if !errors.Is(err, group.ErrNotShared) || !strings.Contains(err.Error(), reason) {
		return fmt.Errorf("error %v, want one about %q", err, reason)
	}
	return nil
}

func TestShare_SeveralHostsHaveNoMemoryTogether(t *testing.T) {
	onRanks(t, 2, func(g group.Group) error {
		_, err := Share(far{g}, 10)
		return notShared(err, "hosts")
	})
}

// faulty is a file that fails one rank.
type faulty struct {
	file
	reserving, seeing error
}

func (f *faulty) reserve(from, to int64) error {
	if f.reserving != nil {
		return f.reserving
	}
	return f.file.reserve(from, to)
}

func (f *faulty) see(bytes int64) ([]byte, error) {
	if f.seeing != nil {
		return nil, f.seeing
	}
	return f.file.see(bytes)
}

// Whatever fails one rank, all ranks get its reason, and the group goes on.
func TestShare_WhatFailsOneRankIsToldToAll(t *testing.T) {
	broken := errors.New("it is broken")
	for _, at := range []string{"open", "reserve", "see"} {
		for rank := range 3 {
			onRanks(t, 3, func(g group.Group) error {
				_, err := share(g, 1000, func(bytes int64, named []byte) (file, error) {
					if g.Rank() != rank {
						return newFile(bytes, named)
					}
					f := &faulty{}
					switch at {
					case "open":
						return nil, broken
					case "reserve":
						f.reserving = broken
					case "see":
						f.seeing = broken
					}
					var err error
					f.file, err = newFile(bytes, named)
					return f, err
				})
				if err := notShared(err, fmt.Sprintf("rank %d (goroutine %d): it is broken", rank, rank)); err != nil {
					return fmt.Errorf("%s: %w", at, err)
				}
				m, err := Share(g, 10)
				if err != nil {
					return fmt.Errorf("afterwards: %w", err)
				}
				return m.Close()
			})
		}
	}
}
