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
	many := crowd{bags: 1100, pairs: some(9, pair{.1, .02}, pair{.4, .1}), prior: frequencies(4, .1, .3), each: 3, seed: 3}
	scores := many
	scores.informed, scores.bags = 1, 600
	for name, c := range map[string]crowd{"few": few, "many": many, "scores": scores} {
		for _, byLabel := range []bool{false, name == "few"} {
			in, _ := c.simulated()
			o := DefaultOptions()
			o.ByLabel, o.Iterations = byLabel, 5
			alone, err := Estimate(t.Context(), in, o)
			if err != nil {
				t.Fatal(err)
			}
			want := told(alone)
			sizes := []int{2, 3}
			if name == "few" { // of one block, so that some ranks have none
				sizes = []int{1, 2, 3, 4}
			}
			for _, n := range sizes {
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

func TestEstimate_FailsWhenAnyExchangeDoes(t *testing.T) {
	c := crowd{bags: 20, pairs: some(4, pair{.1, .02}, pair{.4, .1}), prior: frequencies(2, .2, .5), each: 3, seed: 2}
	in, _ := c.simulated()
	exchanges, err := localtest.CutOff(func(g group.Group) error {
		o := DefaultOptions()
		o.Iterations, o.Group = 2, g
		_, err := Estimate(t.Context(), in, o)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if exchanges < 1+5*(3+1) {
		t.Errorf("%d exchanges, want one before, and in five phases three expectations and the posteriors", exchanges)
	}
}

// brief is a group in which the other rank sends a part of what it should, or more.
type brief struct {
	group.Group
	change func(others []byte) []byte
}

func (b *brief) Gather(own []byte) ([][]byte, error) {
	all, err := b.Group.Gather(own)
	if err == nil {
		all = [][]byte{all[0], b.change(all[1])}
	}
	return all, err
}

func TestGather_RefusesWhatIsTooShortOrTooLong(t *testing.T) {
	c := crowd{bags: 600, pairs: some(4, pair{.1, .02}, pair{.4, .1}), prior: frequencies(2, .2, .5), each: 3, seed: 2}
	in, _ := c.simulated()
	twice := func(of []byte) []byte { return append(of[:len(of):len(of)], of[1:]...) }
	for _, c := range []struct {
		gather func(e *estimator) error
		change func([]byte) []byte
		says   string
	}{
		{func(e *estimator) error { return e.gatherBlocks(nil) }, func(of []byte) []byte { return of[:len(of)-8] },
			"a part of its sums"},
		{func(e *estimator) error { return e.gatherBlocks(nil) }, func(of []byte) []byte { return of[:len(of)-1] }, "8"},
		{func(e *estimator) error { return e.gatherBlocks(nil) }, twice, "more blocks than there are"},
		{(*estimator).gatherPosteriors, twice, "more cells than there are"},
		{(*estimator).gatherPosteriors, func(of []byte) []byte { return of[:max(1, len(of)-1)] }, "8"},
	} {
		errs := localtest.Run(2, func(g group.Group) error {
			e := newEstimator(&in, Options{Group: g})
			if g.Rank() == 0 {
				e.ranks = &brief{g, c.change}
			}
			return c.gather(e)
		})
		if errs[0] == nil || !strings.Contains(errs[0].Error(), c.says) {
			t.Errorf("%v, want %q", errs[0], c.says)
		}
	}
}
