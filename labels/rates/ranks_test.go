package rates

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"nmn/eval"
	"nmn/group"
	"nmn/group/local/localtest"
)

// bitsOf has every bit of a report.
func bitsOf(r *Report) string {
	var b strings.Builder
	for _, c := range r.Classes {
		fmt.Fprintf(&b, "%q %v", c.Word, c.Diagnoses)
		for _, v := range c.numbers() {
			fmt.Fprintf(&b, " %x", math.Float64bits(v))
		}
		b.WriteByte('\n')
	}
	for _, v := range append([]float64{r.PooledQ01, r.PooledQ10, r.Threshold}, r.Thresholds...) {
		fmt.Fprintf(&b, "%x ", math.Float64bits(v))
	}
	if r.Floor != nil {
		fmt.Fprintf(&b, "%x %x", math.Float64bits(r.Floor.Q01), math.Float64bits(r.Floor.Q10))
	}
	return b.String()
}

func TestNewReport_IsTheSameOnAnyNumberOfRanks(t *testing.T) {
	for _, classes := range []int{1, 17, 70} { // fewer tiles than ranks, too
		drawn := draw(4, 300, classes, -1, 2, func(c int) float64 { return .3 * float64(c%4) / 3 }, always(.02))
		for i := range drawn.Bags { // a class with few labels, and one that all bags carry
			if drawn.Labels[i*classes] = 0; i < 3 {
				drawn.Labels[i*classes] = 1
			}
			drawn.Labels[(i+1)*classes-1] = 1
		}
		in := &eval.Input{Bags: drawn.Bags, Classes: classes, Scores: drawn.Scores, Labels: drawn.Labels}
		for c := range classes {
			in.Words = append(in.Words, fmt.Sprint("word ", c))
		}
		for _, raise := range []bool{false, true}[:1+classes%70/17] {
			settings := DefaultOptions()
			settings.Iterations = 12
			alone, err := NewReport(t.Context(), in, raise, settings)
			if err != nil {
				t.Fatal(err)
			}
			want := bitsOf(alone)
			for n := 1; n <= 4; n++ {
				if n != 3 && testing.Short() {
					continue
				}
				for rank, err := range localtest.Run(n, func(g group.Group) error {
					o := settings
					o.Group, o.Workers = g, 1+n%2
					r, err := NewReport(t.Context(), in, raise, o)
					if err != nil {
						return err
					}
					if got := bitsOf(r); got != want {
						t.Errorf("%d classes, rank %d of %d, raised %t: \n%s\nwant\n%s", classes, g.Rank(), n, raise, got, want)
					}
					return nil
				}) {
					if err != nil {
						t.Errorf("%d classes, rank %d of %d: %v", classes, rank, n, err)
					}
				}
			}
		}
	}
}

func TestEstimate_TellsEveryRankWhatIsWrongOnOne(t *testing.T) {
	in := draw(4, 300, 40, -1, 2, always(.2), always(.02))
	broken := in
	broken.Scores = append([]float32(nil), in.Scores...)
	broken.Scores[70] = float32(math.NaN())
	shorter := Input{Bags: 299, Classes: 40, Scores: in.Scores[40:], Labels: in.Labels[40:]}
	for text, other := range map[string]Input{"want a finite number": broken, "must read the same files": shorter} {
		for rank, err := range localtest.Run(3, func(g group.Group) error {
			o, own := DefaultOptions(), in
			if o.Group = g; g.Rank() == 1 {
				own = other
			}
			_, err := Estimate(t.Context(), own, o)
			return err
		}) {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("rank %d: %v, want %q", rank, err, text)
			}
		}
	}
}

// A signal to one rank ends all, whatever they are at.
func TestEstimate_EndsOnAllRanksAfterASignalToOne(t *testing.T) {
	in := draw(4, 300, 40, -1, 2, always(.2), always(.02))
	for _, share := range []float64{0, .3, .7, 1} {
		for rank, err := range localtest.Run(3, func(g group.Group) error {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			o := DefaultOptions()
			o.Group, o.Workers = g, 1
			if g.Rank() == 1 {
				o.Progress = func(done, all int) {
					if float64(done) >= share*float64(all) {
						cancel()
					}
				}
			}
			_, err := Estimate(ctx, in, o)
			return err
		}) {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("after %g of the work, rank %d: %v", share, rank, err)
			}
		}
	}
}
