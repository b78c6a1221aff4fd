package neighbours

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"nmn/group"
	"nmn/group/local/localtest"
)

func TestFind_IsTheSameOnAnyNumberOfRanks(t *testing.T) {
	for name, c := range map[string]struct {
		rows, width int
		metric      Metric
	}{"few": {2, 5, ""}, "few of one feature": {3, 1, ""}, "one by one": {700, 2, ""}, "cosine": {900, 12, ""},
		"euclidean": {5000, 9, Euclidean}} {
		m := draw(5, c.rows, c.width)
		copy(m.values[:c.width], m.values[len(m.values)-c.width:]) // equal rows
		set := func(o *Options) { o.Metric = c.metric }
		want := find(t, m, set)
		for n := 1; n <= 4; n++ {
			for rank, err := range localtest.Run(n, func(g group.Group) error {
				o := DefaultOptions()
				set(&o)
				o.Group = g
				r, err := Find(t.Context(), m, o)
				if err == nil && !reflect.DeepEqual(r, want) {
					t.Errorf("%s: rank %d of %d has found other neighbours", name, g.Rank(), n)
				}
				return err
			}) {
				if err != nil {
					t.Errorf("%s: rank %d of %d: %v", name, rank, n, err)
				}
			}
		}
	}
}

func TestFind_TellsEveryRankWhatIsWrongOnOne(t *testing.T) {
	for text, other := range map[string]memory{"want at least 2 rows": draw(5, 1, 9), "the same files": draw(5, 299, 9)} {
		for rank, err := range localtest.Run(3, func(g group.Group) error {
			o, m := DefaultOptions(), draw(5, 300, 9)
			if o.Group = g; g.Rank() == 1 {
				m = other
			}
			_, err := Find(t.Context(), m, o)
			return err
		}) {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("rank %d: %v, want %q", rank, err, text)
			}
		}
	}
}

func TestFind_EndsOnAllRanksAfterASignalToOne(t *testing.T) {
	for _, width := range []int{2, 9} {
		for rank, err := range localtest.Run(3, func(g group.Group) error {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			o := DefaultOptions()
			if o.Group = g; g.Rank() == 1 {
				o.Progress = func(int, int) { cancel() }
			}
			_, err := Find(ctx, draw(5, 900, width), o)
			return err
		}) {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%d features, rank %d: %v", width, rank, err)
			}
		}
	}
}
