package audit

import (
	"reflect"
	"strings"
	"testing"

	"nmn/eval"
	"nmn/group"
	"nmn/group/local/localtest"
	"nmn/internal/rng"
	"nmn/labels/rates"
)

// drawn are scores of three blocks of bags, or of fewer bags.
func drawn(bags, classes int) *eval.Input {
	in := &eval.Input{Bags: bags, Classes: classes, Scores: make([]float32, bags*classes),
		Labels: make([]uint8, bags*classes), Truth: make([]uint8, bags*classes)}
	s := rng.New(6)
	for i := range in.Scores {
		o := s.Normal(-1, 3)
		in.Scores[i] = float32(o)
		if s.Float64() < rates.Sigmoid(o) {
			in.Truth[i] = 1
		}
		if in.Labels[i] = in.Truth[i]; s.Float64() < .1 {
			in.Labels[i] ^= 1
		}
	}
	return in
}

func TestScores_AreTheSameOnAnyNumberOfRanks(t *testing.T) {
	for _, bags := range []int{300, 2*blockRows + 100} {
		in := drawn(bags, 5)
		o := Options{Estimation: rates.DefaultOptions(), MinError: .5}
		o.Estimation.Iterations = 10
		want, err := Scores(t.Context(), in, o)
		if err != nil || len(want.Suspects) == 0 {
			t.Fatalf("%d suspects, %v", len(want.Suspects), err)
		}
		for n := 1; n <= 4; n++ {
			for rank, err := range localtest.Run(n, func(g group.Group) error {
				o := o
				o.Estimation.Group = g
				r, err := Scores(t.Context(), in, o)
				if err != nil {
					return err
				}
				if !reflect.DeepEqual(r.Result, want.Result) || !reflect.DeepEqual(r.Estimate, want.Estimate) {
					t.Errorf("%d bags: rank %d of %d has another result", bags, g.Rank(), n)
				}
				if g.Rank() == 0 && !reflect.DeepEqual(r.Judgement, want.Judgement) {
					t.Errorf("%d bags, %d ranks: judged %+v, want %+v", bags, n, r.Judgement, want.Judgement)
				}
				return nil
			}) {
				if err != nil {
					t.Errorf("%d bags, rank %d of %d: %v", bags, rank, n, err)
				}
			}
		}
	}
}

func TestScores_TellEveryRankWhatIsWrongOnOne(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(in *eval.Input, o *Options)
		text  string
	}{
		"bags":         {func(in *eval.Input, _ *Options) { *in = *drawn(250, 5) }, "the same files"},
		"no file":      {func(_ *eval.Input, o *Options) { o.Rates = "missing.csv" }, "missing.csv"},
		"probability":  {func(_ *eval.Input, o *Options) { o.MinError = 2 }, "want 0 to 1"},
		"not a number": {func(in *eval.Input, _ *Options) { in.Labels[3] = 2 }, "label"},
	} {
		for rank, err := range localtest.Run(3, func(g group.Group) error {
			in, o := drawn(300, 5), Options{Estimation: rates.DefaultOptions(), MinError: .5}
			if o.Estimation.Group = g; g.Rank() == 2 {
				c.spoil(in, &o)
			}
			if name == "no file" { // for all, of which one cannot read it
				o.Rates = "missing.csv"
			}
			_, err := Scores(t.Context(), in, o)
			return err
		}) {
			if err == nil || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%s: rank %d: %v, want %q", name, rank, err, c.text)
			}
		}
	}
}

func TestFiles_TellEveryRankOfOnesMissingFile(t *testing.T) {
	for rank, err := range localtest.Run(2, func(g group.Group) error {
		o := Options{Estimation: rates.DefaultOptions(), MinError: .5}
		o.Estimation.Group = g
		_, err := Files(t.Context(), eval.Files{Scores: "none.csv", Labels: "none.csv"}, o)
		return err
	}) {
		if err == nil {
			t.Errorf("rank %d knows of nothing", rank)
		}
	}
}
