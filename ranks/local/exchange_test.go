package local_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"nmn/ranks"
	"nmn/ranks/local/localtest"
)

func TestExchange_TellsEveryRankOfOnesFailure(t *testing.T) {
	broken := errors.New("a broken file")
	for _, c := range []struct {
		err  error
		text string
	}{{broken, broken.Error()}, {fmt.Errorf("at once: %w", context.Canceled), "canceled"}} {
		errs := localtest.Run(3, func(g ranks.Group) error {
			var own error
			if g.Rank() == 1 {
				own = c.err
			}
			_, err := ranks.Exchange(g, []byte("mine"), own)
			again, second := ranks.Exchange(g, []byte{byte(g.Rank())}, nil) // the group goes on
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
			if lost := new(ranks.LostError); rank != 1 && (!errors.As(err, &lost) || lost.Rank != 1) {
				t.Errorf("rank %d: %v, want that of rank 1", rank, err)
			}
		}
	}
}

// Messages that are longer than one transfer arrive complete, together with short and empty ones.
func TestExchange_BringsMessagesOfAnyLength(t *testing.T) {
	const long = 20<<20 + 3
	message := func(rank, length int) []byte { return bytes.Repeat([]byte{byte(1 + rank)}, length) }
	for _, lengths := range [][3]int{{0, 0, 0}, {1, 0, 56}, {long, 3, 0}, {0, 8 << 20, 8<<20 - 9}} {
		localtest.Check(t, 3, fmt.Sprint("lengths ", lengths), func(g ranks.Group) error {
			all, err := ranks.Exchange(g, message(g.Rank(), lengths[g.Rank()]), nil)
			if err != nil {
				return err
			}
			for of, got := range all {
				if !bytes.Equal(got, message(of, lengths[of])) {
					return fmt.Errorf("%d bytes of rank %d arrive as %d", lengths[of], of, len(got))
				}
			}
			return nil
		})
	}
}

func TestEvery_BringsTheValuesOfAllRanks(t *testing.T) {
	type found struct {
		Name   string
		Values []float32
	}
	localtest.Check(t, 3, "Every", func(g ranks.Group) error {
		own := found{fmt.Sprint("rank ", g.Rank()), []float32{float32(math.Inf(-1)), float32(math.NaN()), float32(g.Rank())}}
		all, err := ranks.Every(g, own, nil)
		if err != nil {
			return err
		}
		for of, its := range all {
			if its.Name != fmt.Sprint("rank ", of) || len(its.Values) != 3 || its.Values[2] != float32(of) ||
				its.Values[1] == its.Values[1] || !math.IsInf(float64(its.Values[0]), -1) {
				return fmt.Errorf("rank %d is %+v", of, its)
			}
		}
		return nil
	})
}
