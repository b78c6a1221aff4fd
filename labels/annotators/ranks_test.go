package annotators

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"nmn/group"
	"nmn/group/local/localtest"
)

// told is all that a result tells, to the last digit.
func told(r *Result) string {
	var b strings.Builder
	parts := r.parts
	r.parts = nil
	fmt.Fprintf(&b, "%+v\n", *r)
	r.parts = parts
	p, e := make([]float64, r.Classes), make([]float64, r.Classes)
	for i := range r.Bags {
		r.Posterior(i, p)
		r.Evidence(i, e)
		fmt.Fprintln(&b, p, e)
		r.Each(i, func(c Cell) { fmt.Fprint(&b, c) })
	}
	return b.String()
}

func TestEstimate_IsTheSameOnAnyNumberOfRanks(t *testing.T) {
	few := crowd{bags: 40, pairs: some(4, pair{.1, .02}, pair{.4, .1}), prior: frequencies(3, .2, .5), each: 3, seed: 2}
	many := crowd{bags: 1500, pairs: some(9, pair{.1, .02}, pair{.4, .1}), prior: frequencies(4, .1, .3), each: 3, seed: 3}
	scores := many
	scores.informed, scores.bags = 1, 700
	for name, c := range map[string]crowd{"few": few, "many": many, "scores": scores} {
		for _, byLabel := range []bool{false, name == "few"} {
			in, _ := c.simulated()
			o := DefaultOptions()
			o.ByLabel, o.Iterations = byLabel, 30
			alone, err := Estimate(t.Context(), in, o)
			if err != nil {
				t.Fatal(err)
			}
			want := told(alone)
			for n := 1; n <= 4; n++ {
				for rank, err := range localtest.Run(n, func(g group.Group) error {
					o := o
					o.Group = g
					r, err := Estimate(t.Context(), in, o)
					if err == nil && told(r) != want {
						t.Errorf("%s, by label %t: rank %d of %d estimates\n%.500s\nwant\n%.500s", name, byLabel, g.Rank(), n,
							told(r), want)
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
}

func TestEstimate_TellsEveryRankWhatIsWrongOnOne(t *testing.T) {
	c := crowd{bags: 700, pairs: some(9, pair{.1, .02}, pair{.4, .1}), prior: frequencies(4, .1, .3), each: 3, seed: 3}
	good, _ := c.simulated()
	signalled, cancel := context.WithCancel(t.Context())
	cancel()
	for text, own := range map[string]func(in *Input) context.Context{
		"bag":            func(in *Input) context.Context { in.Rows[0].Bag = 700; return t.Context() },
		"the same files": func(in *Input) context.Context { in.Rows = in.Rows[1:]; return t.Context() },
		"canceled":       func(*Input) context.Context { return signalled },
	} {
		for rank, err := range localtest.Run(3, func(g group.Group) error {
			ctx, in, o := t.Context(), good, DefaultOptions()
			in.Rows = append([]Row(nil), in.Rows...)
			if o.Group = g; g.Rank() == 1 {
				ctx = own(&in)
			}
			_, err := Estimate(ctx, in, o)
			return err
		}) {
			if err == nil || !strings.Contains(err.Error(), text) || (text == "canceled") != errors.Is(err, context.Canceled) {
				t.Errorf("rank %d: %v, want %q", rank, err, text)
			}
		}
	}
}
