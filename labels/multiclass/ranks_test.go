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
	noises := map[Noise]bool{}
	for _, in := range []*Input{
		draw(3, 30, 2, transition(2, .2), false), // more ranks than classes
		draw(3, 700, 3, transition(3, .2), true),
		draw(3, 1500, 7, transition(7, .2), false),
		draw(3, 1500, 4, even(.2, 4), false),
		draw(25, 1500, 2, []float64{.65, .35, 0, 1}, true),
		draw(5, 600, 4, even(0, 4), false),
	} {
		want, err := Audit(t.Context(), in, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		noises[want.Noise] = true
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
					t.Errorf("%d rows: rank %d of %d estimates %+v, want %+v", in.Rows, g.Rank(), n, got, model)
				}
				found := func(r *Report) string { // %v tells all digits, and of not a number too
					return fmt.Sprintf("%v %v %+v %v", r.Suspects, r.Classes, r.Judgement, r.Table.Scores)
				}
				if g.Rank() == 0 && found(r) != found(want) {
					t.Errorf("%d rows: %d ranks find other suspects", in.Rows, n)
				}
				return nil
			}) {
				if err != nil {
					t.Errorf("%d rows: rank %d of %d: %v", in.Rows, rank, n, err)
				}
			}
		}
	}
	if len(noises) != int(Learned)+1 {
		t.Errorf("kinds of noise: %v", noises)
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
