package witness

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nmn/group"
	"nmn/group/local"
	"nmn/group/local/localtest"
	"nmn/internal/rng"
)

// onRanks runs Find on the shares of an input.
func onRanks(t *testing.T, n int, in Input, o Options) []*Result {
	t.Helper()
	results := make([]*Result, n)
	localtest.Each(n, func(g group.Group) {
		o := o
		o.Group = g
		r, err := Find(t.Context(), in.Share(g), o)
		if err != nil {
			t.Errorf("rank %d of %d: %v", g.Rank(), n, err)
		}
		results[g.Rank()] = r
	})
	if t.Failed() {
		t.FailNow()
	}
	return results
}

// fingerprint has every bit of what was found.
func fingerprint(r *Result) string {
	var b strings.Builder
	numbers := func(what string, values ...float64) {
		fmt.Fprintf(&b, "\n%s:", what)
		for _, v := range values {
			fmt.Fprintf(&b, " %x", math.Float64bits(v))
		}
	}
	for n, own := range r.Own {
		numbers(fmt.Sprint("bag ", n), own...)
	}
	numbers("found", r.Foreign, r.Gain, r.Interval.Low, r.Interval.High)
	numbers("a", r.A...)
	numbers("e", r.E...)
	numbers("frequency", r.Frequency...)
	threshold, dropped := r.Precision(.8)
	fmt.Fprintf(&b, "\n%t %q %q %v %d %v", r.ByScores, r.Refusal, r.Remarks, threshold, dropped, r.Kept(.5))
	return b.String()
}

func differs(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("%.200s\nwant\n%.200s", x[i], y[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(x), len(y))
}

// inputs are of all kinds: text alone, scores of all bags and of some, bags of very different sizes and empty ones,
// mostly foreign captions.
func inputs() map[string]Input {
	p, most := replaced(500, 2), replaced(500, 4)
	k, all := p.classes, p.scored(1)
	some := Input{Classes: k, Captions: slices.Clone(p.captions)}
	s := rng.New(5)
	for _, n := range []int{11, 3, 300, 301, 499, 410} { // in no order
		some.Scored = append(some.Scored, n)
		some.Scores = append(some.Scores, all[n*k:(n+1)*k]...)
	}
	for n := range some.Captions {
		switch s.Intn(8) {
		case 0:
			some.Captions[n] = nil
		case 1:
			some.Captions[n] = some.Captions[n][:1]
		case 2:
			some.Captions[n] = slices.Concat(some.Captions[n], p.captions[(n+1)%500], p.captions[(n+2)%500])
		case 3:
			some.Captions[n] = slices.Concat(some.Captions[n], [][]int32{nil})
		}
	}
	return map[string]Input{
		"text":           {Classes: k, Captions: p.captions},
		"scores":         {Classes: k, Captions: p.captions, Scores: all},
		"some scores":    some,
		"mostly foreign": {Classes: k, Captions: most.captions, Scores: most.scored(1)},
		"few":            {Classes: k, Captions: p.captions[:50]},
		"too few":        {Classes: k, Captions: p.captions[:3]}, // and fewer bags than ranks have blocks
		"empty":          {Classes: k},
	}
}

func TestFind_IsTheSameOnAnyNumberOfRanks(t *testing.T) {
	for name, in := range inputs() {
		t.Run(name, func(t *testing.T) {
			alone, err := Find(t.Context(), in, Options{Seed: 3, Resamples: 40})
			check(t, err)
			want := fingerprint(alone)
			for n := 1; n <= 4; n++ {
				if n != 3 && testing.Short() {
					continue
				}
				for rank, r := range onRanks(t, n, in, Options{Seed: 3, Resamples: 40, Threads: 1 + n%3}) {
					if got := fingerprint(r); got != want {
						t.Fatalf("rank %d of %d has found something else: %s", rank, n, differs(got, want))
					}
					reasonsAreEqual(t, r, alone, in)
				}
			}
		})
	}
}

// More ranks than blocks leave some without bags.
func TestFind_LetsRanksHaveNothingToDo(t *testing.T) {
	in := inputs()["some scores"]
	alone, err := Find(t.Context(), in, Options{Seed: 3, Resamples: 3})
	check(t, err)
	want := fingerprint(alone)
	for rank, r := range onRanks(t, fewBlocks+3, in, Options{Seed: 3, Resamples: 3}) {
		if got := fingerprint(r); got != want {
			t.Fatalf("rank %d has found something else: %s", rank, differs(got, want))
		}
	}
}

func reasonsAreEqual(t *testing.T, r, alone *Result, in Input) {
	t.Helper()
	r.Know(func(bag int) ([][]int32, []float32) {
		row := bag
		if in.Scored != nil {
			row = slices.Index(in.Scored, bag)
		}
		if in.Scores == nil || row < 0 {
			return in.Captions[bag], nil
		}
		return in.Captions[bag], in.Scores[row*in.Classes : (row+1)*in.Classes]
	})
	for n := 0; n < len(in.Captions); n += 37 {
		for c := range in.Captions[n] {
			if got, want := r.Reasons(n, c, 5), alone.Reasons(n, c, 5); !slices.Equal(got, want) {
				t.Fatalf("bag %d, caption %d: %v, want %v", n, c, got, want)
			}
		}
	}
}

func TestEvidence_IsThatOfTheShare(t *testing.T) {
	in := inputs()["scores"]
	alone, err := Find(t.Context(), in, Options{})
	check(t, err)
	want, err := alone.Evidence(t.Context())
	check(t, err)
	var got []float32
	for _, r := range onRanks(t, 3, in, Options{}) {
		own, err := r.Evidence(t.Context())
		check(t, err)
		got = append(got, own...)
	}
	if !slices.Equal(got, want) {
		t.Error("the evidence of three ranks is another one")
	}
}

// Whatever is wrong with one rank's share, all ranks hear of it.
func TestFind_TellsEveryRankWhatIsWrongWithOnes(t *testing.T) {
	in := inputs()["text"]
	for name, c := range map[string]struct {
		spoil func(in *Input, o *Options)
		text  string
	}{
		"a class":     {func(in *Input, _ *Options) { in.Captions[4] = [][]int32{{5, 5}} }, "ascending"},
		"a share":     {func(in *Input, _ *Options) { in.Captions = in.Captions[1:] }, "want those of the"},
		"other words": {func(in *Input, _ *Options) { in.Classes++ }, "other words"},
		"no scores":   {func(in *Input, _ *Options) { in.Scores = nil }, "other bags with scores"},
	} {
		in := in
		if name == "no scores" {
			in = inputs()["scores"]
		}
		errs := failing(t, 3, func(g group.Group) error {
			own, o := in.Share(g), Options{Group: g}
			own.Captions = slices.Clone(own.Captions)
			if g.Rank() == 1 {
				c.spoil(&own, &o)
			}
			_, err := Find(t.Context(), own, o)
			return err
		})
		for rank, err := range errs {
			if err == nil || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%s: rank %d: %v, want %q", name, rank, err, c.text)
			}
		}
	}
}

// A signal to one rank ends all, wherever they are.
func TestFind_EndsOnAllRanksAfterASignalToOne(t *testing.T) {
	in := inputs()["mostly foreign"]
	for part := range 5 { // 0: before it begins
		errs := failing(t, 3, func(g group.Group) error {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			o := Options{Group: g, Resamples: 200}
			if g.Rank() == 2 {
				o.Progress = func(at, _ int) {
					if at == part {
						cancel()
					}
				}
				if part == 0 {
					cancel()
				}
			}
			_, err := Find(ctx, in.Share(g), o)
			return err
		})
		for rank, err := range errs {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("part %d, rank %d: %v", part, rank, err)
			}
		}
	}
}

func failing(t *testing.T, n int, run func(g group.Group) error) []error {
	t.Helper()
	errs := make([]error, n)
	var wait sync.WaitGroup
	for i, g := range local.New(n, time.Hour) {
		wait.Go(func() { errs[i] = run(g) })
	}
	wait.Wait()
	return errs
}
