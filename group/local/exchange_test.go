package local_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"nmn/group"
	"nmn/group/local/localtest"
)

func TestExchange_TellsEveryRankOfOnesFailure(t *testing.T) {
	broken := errors.New("a broken file")
	for _, c := range []struct {
		err  error
		text string
	}{{broken, broken.Error()}, {fmt.Errorf("at once: %w", context.Canceled), "canceled"}} {
		errs := localtest.Run(3, func(g group.Group) error {
			var own error
			if g.Rank() == 1 {
				own = c.err
			}
			_, err := group.Exchange(g, []byte("mine"), own)
			again, second := group.Exchange(g, []byte{byte(g.Rank())}, nil) // the group goes on
			if second != nil || len(again) != 3 || again[2][0] != 2 {
				t.Errorf("rank %d then has %v, %v", g.Rank(), again, second)
			}
			return err
		})
		for rank, err := range errs {
			if err == nil || !strings.Contains(err.Error(), c.text) {
				t.Errorf("rank %d: %v, want %q", rank, err, c.text)
			}
			if errors.Is(c.err, context.Canceled) != errors.Is(err, context.Canceled) {
				t.Errorf("rank %d: %v: is it an interruption?", rank, err)
			}
			if lost := new(group.LostError); rank != 1 && (!errors.As(err, &lost) || lost.Rank != 1) {
				t.Errorf("rank %d: %v, want that of rank 1", rank, err)
			}
		}
	}
}

func TestStream_PassesPiecesInOrderUntilNobodyHasAny(t *testing.T) {
	for n := 1; n <= 4; n++ {
		for rank, err := range localtest.Run(n, func(g group.Group) error {
			sent, got := 0, make([]string, n)
			err := group.Stream(g, func() ([]byte, error) {
				if sent++; sent > g.Rank()*2 { // rank 0 has none
					return nil, nil
				}
				return fmt.Appendf(nil, "%d.%d ", g.Rank(), sent), nil
			}, func(rank int, piece []byte) error {
				got[rank] += string(piece)
				return nil
			})
			for rank := range got {
				want := ""
				for i := range 2 * rank {
					want += fmt.Sprintf("%d.%d ", rank, i+1)
				}
				if got[rank] != want {
					t.Errorf("%d ranks: of rank %d came %q, want %q", n, rank, got[rank], want)
				}
			}
			return err
		}) {
			if err != nil {
				t.Errorf("%d ranks, rank %d: %v", n, rank, err)
			}
		}
	}
}

func TestStream_EndsOnEveryRankWhereOneCannotTakeAPiece(t *testing.T) {
	for rank, err := range localtest.Run(3, func(g group.Group) error {
		return group.Stream(g, func() ([]byte, error) { return []byte("more"), nil }, func(int, []byte) error {
			if g.Rank() == 2 {
				return errors.New("no room")
			}
			return nil
		})
	}) {
		if err == nil || !strings.Contains(err.Error(), "no room") {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// Numbers whose sum depends on the order are added in the same order by any number of ranks.
func TestSumBlocks_HasTheSameBitsForAllNumbersOfRanks(t *testing.T) {
	const blocks = 7
	vectors := make([][]float64, blocks)
	for b := range vectors {
		vectors[b] = []float64{math.Pow(-10, float64(b)), 1e16 / float64(b*b+1), .1 * float64(b), math.Copysign(0, -1)}
	}
	want := slices.Clone(vectors[0])
	for _, v := range vectors[1:] {
		for i := range v {
			want[i] += v[i]
		}
	}
	for n := 1; n <= 9; n++ { // of nine, two have no block
		localtest.Run(n, func(g group.Group) error {
			from, to := group.Share(g, blocks)
			got, err := group.SumBlocks(g, vectors[from:to], nil)
			if err != nil || len(got) != len(want) {
				t.Errorf("%d ranks: %v, %v", n, got, err)
				return nil
			}
			for i := range got {
				if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
					t.Errorf("%d ranks: sum %d is %x, want %x", n, i, got[i], want[i])
				}
			}
			return nil
		})
	}
}

func TestSumCounts_AddsThoseOfAllRanks(t *testing.T) {
	localtest.Run(3, func(g group.Group) error {
		counts := []int{g.Rank(), 0, -5, math.MaxInt / 4}
		if err := group.SumCounts(g, counts, nil); err != nil || !slices.Equal(counts, []int{3, 0, -15, math.MaxInt / 4 * 3}) {
			t.Errorf("%v, %v", counts, err)
		}
		return nil
	})
}
