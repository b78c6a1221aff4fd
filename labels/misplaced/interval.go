package misplaced

import (
	"context"
	"math"
	"slices"

	"nmn/eval"
	"nmn/internal/parallel"
	"nmn/internal/rng"
)

// Corrections for two errors that resampling misses. Rates of words are not estimated anew from each
// resample, so deviations are widened. The model of captions is not quite true, however many there are. Both
// were measured on captions of COCO (docs/guide/captions-audit.md).
const (
	wider      = 1.5
	modelDoubt = .04
)

const (
	mostDrawn      = 20000 // captions of a resample; more would take long and show the same
	intervalRounds = 8     // of EM in each resample
)

// interval draws units anew and estimates from each draw how many captions are foreign, with the rates as they
// are. doubt is the width of the middle 95 % of these shares.
func (f *finder) interval(ctx context.Context, foreign float64, o Options) (i Interval, doubt float64, err error) {
	if o.Resamples < 1 {
		return Interval{eval.Undefined(), eval.Undefined()}, 0, nil
	}
	var units []int
	captions := 0
	for i := range f.units {
		if u := &f.units[i]; f.witnessed(u) {
			units, captions = append(units, i), captions+u.captions
		}
	}
	seed := rng.Derive(o.Seed, "witness/bags")
	shares := make([]float64, o.Resamples)
	drawn := len(units) * min(captions, mostDrawn) / captions
	err = parallel.Run(ctx, o.Resamples, 0, func() func(int) {
		of := make([]int, drawn)
		return func(i int) {
			stream := rng.New(seed, i)
			for k := range of {
				of[k] = units[stream.Intn(len(units))]
			}
			shares[i] = f.shareOf(of)
		}
	})
	if err != nil {
		return Interval{}, 0, err
	}
	slices.Sort(shares)
	at := func(q float64) float64 { return shares[int(q*float64(len(shares)-1)+.5)] }
	middle, scale := f.shareOf(units), math.Sqrt(float64(drawn)/float64(len(units)))
	low, high := scale*(at(.025)-middle), scale*(at(.975)-middle)
	below, above := wider*max(high, 0)+modelDoubt, wider*max(-low, 0)+modelDoubt
	return Interval{eval.Number(max(foreign-below, 0)), eval.Number(min(foreign+above, 1))}, high - low, nil
}

// shareOf estimates the share of foreign captions of some units: for each number of captions of a unit, the
// distribution of the foreign ones of the greatest likelihood.
func (f *finder) shareOf(units []int) float64 {
	foreign, captions := 0.0, 0
	now, next := make([]float64, f.tables.most+1), make([]float64, f.tables.most+1)
	for _, k := range kinds {
		if f.compared[k] != nil {
			of, n := f.shareCompared(units, k)
			foreign, captions = foreign+of*float64(n), captions+n
		}
	}
	for n := 2; n <= min(f.tables.most, mostExact); n++ {
		copy(now, f.prior.foreign[n])
		number := 0
		for range intervalRounds {
			clear(next)
			number = 0
			for _, i := range units {
				if f.units[i].captions != n || !f.units[i].exact {
					continue
				}
				number++
				counts, sum := f.countsOf(i), 0.0
				for k, p := range counts {
					sum += float64(p) / f.prior.foreign[n][k] * now[k]
				}
				for k, p := range counts {
					next[k] += float64(p) / f.prior.foreign[n][k] * now[k] / sum
				}
			}
			if number == 0 {
				break
			}
			for k := range n + 1 {
				now[k] = next[k] / float64(number)
			}
		}
		for k, p := range now[:n+1] {
			foreign += p * float64(k) * float64(number)
		}
		captions += n * number
	}
	return foreign / float64(max(captions, 1))
}

// shareCompared estimates the share of foreign captions of the units of a kind, and returns the number of their
// captions.
func (f *finder) shareCompared(units []int, k kind) (share float64, captions int) {
	d := f.compared[k]
	t := newTally(len(d.g))
	for _, i := range units {
		u := &f.units[i]
		if u.exact || f.kindOf(u) != k {
			continue
		}
		for at := u.first; at < u.first+u.captions; at++ {
			t.add(d, f.own[at], f.null[at], f.votes[at])
		}
	}
	if t.captions == 0 {
		return 0, 0
	}
	_, share = t.estimate()
	return share, t.captions
}
