package multiclass

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"nmn/group"
	"nmn/group/local/localtest"
)

func TestAudit_IsTheSameOnAnyNumberOfRanks(t *testing.T) {
	for _, c := range []struct {
		rows, classes int
		learned       bool
	}{{30, 2, false}, {700, 3, true}, {1500, 7, false}} { // more ranks than classes, too
		in := draw(3, c.rows, c.classes, transition(c.classes, .2), c.learned)
		want, err := Audit(t.Context(), in, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= 4; n++ {
			for rank, err := range localtest.Run(n, func(g group.Group) error {
				o := DefaultOptions()
				o.Group = g
				r, err := Audit(t.Context(), in, o)
				if err != nil {
					return err
				}
				got, model := *r.Model, *want.Model
				got.ranks, model.ranks = nil, nil
				if !reflect.DeepEqual(got, model) {
					t.Errorf("%d rows: rank %d of %d estimates %+v, want %+v", c.rows, g.Rank(), n, got, model)
				}
				found := func(r *Report) string { // %v tells all digits, and of not a number too
					return fmt.Sprintf("%v %v %+v %v", r.Suspects, r.Classes, r.Judgement, r.Table.Scores)
				}
				if g.Rank() == 0 && found(r) != found(want) {
					t.Errorf("%d rows: %d ranks find other suspects", c.rows, n)
				}
				return nil
			}) {
				if err != nil {
					t.Errorf("%d rows: rank %d of %d: %v", c.rows, rank, n, err)
				}
			}
		}
	}
}

func TestAudit_TellsEveryRankWhatIsWrongOnOne(t *testing.T) {
	good := draw(3, 300, 3, transition(3, .2), false)
	signalled, cancel := context.WithCancel(t.Context())
	cancel()
	for text, own := range map[string]func() (context.Context, *Input){
		"label":          func() (context.Context, *Input) { in := *good; in.Labels = in.Labels[1:]; return t.Context(), &in },
		"the same files": func() (context.Context, *Input) { return t.Context(), draw(3, 299, 3, transition(3, .2), false) },
		"canceled":       func() (context.Context, *Input) { return signalled, good },
	} {
		for rank, err := range localtest.Run(3, func(g group.Group) error {
			ctx, in, o := t.Context(), good, DefaultOptions()
			if o.Group = g; g.Rank() == 1 {
				ctx, in = own()
			}
			_, err := Audit(ctx, in, o)
			return err
		}) {
			if err == nil || !strings.Contains(err.Error(), text) || (text == "canceled") != errors.Is(err, context.Canceled) {
				t.Errorf("rank %d: %v, want %q", rank, err, text)
			}
		}
	}
}
