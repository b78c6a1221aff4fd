package misplaced

import (
	"context"
	"math"
	"slices"

	"nmn/internal/parallel"
	"nmn/internal/rng"
)

// Corrections for two errors that resampling misses. Rates of words are not estimated anew from each
// resample, so deviations are widened. The model of captions is not quite true, however many there are. Both
// were measured on captions of COCO with captions replaced; the intervals then held the true shares in 202 of
// 210 sets (docs/guide/captions-audit.md).
const (
	wider      = 1.5
	modelDoubt = .025
)

// interval resamples bags, with their captions' t as they are. A bag that is drawn twice agrees with itself, so that
// resamples have fewer foreign captions than the bags that they are drawn from. The interval therefore takes how far
// resamples are from the share of all bags, and not the resamples themselves (the basic bootstrap). doubt is the width
// of the middle 95 % of the resamples.
func (f *finder) interval(ctx context.Context, foreign float64, o Options) (i Interval, doubt float64, err error) {
	if o.Resamples < 1 {
		return Interval{math.NaN(), math.NaN()}, 0, nil
	}
	bagOf := make([]int32, len(f.own))
	for n := range f.in.Captions {
		for at := f.first[n]; at < f.first[n+1]; at++ {
			bagOf[at] = int32(n)
		}
	}
	seed := rng.Derive(o.Seed, "witness/bags")
	shares := make([]float64, o.Resamples)
	err = parallel.Run(ctx, o.Resamples, f.threads, func() func(int) {
		drawn := make([]uint8, len(f.in.Captions))
		return func(i int) {
			stream := rng.New(seed, i)
			clear(drawn)
			for range drawn {
				if n := stream.Intn(len(drawn)); drawn[n] < math.MaxUint8 {
					drawn[n]++
				}
			}
			shares[i] = f.share(f.counts(bagOf, drawn))
		}
	})
	if err != nil {
		return Interval{}, 0, err
	}
	slices.Sort(shares)
	at := func(q float64) float64 { return shares[int(q*float64(len(shares)-1)+.5)] }
	once := slices.Repeat([]uint8{1}, len(f.in.Captions))
	low, high, all := at(.025), at(.975), f.share(f.counts(bagOf, once))
	below, above := wider*max(high-all, 0)+modelDoubt, wider*max(all-low, 0)+modelDoubt
	return Interval{max(foreign-below, 0), min(foreign+above, 1)}, high - low, nil
}

// counts are, for each kind of peers that are compared, what captions add where bags count as often as they were drawn:
// captions in each bin, weights of foreign ones in each bin, and the sums of both. Sums are taken by blocks.
func (f *finder) counts(bagOf []int32, drawn []uint8) (all []float64) {
	for i, d := range f.compared {
		if d == nil {
			continue
		}
		p, bins := &f.peers[i], len(d.g)
		blocks := make([][]float64, f.blocks)
		for b := range blocks {
			sums := make([]float64, 2*bins+2)
			from, to := f.block(b)
			first, last := p.between(f.first[from], f.first[to])
			for at := first; at < last; at++ {
				times := float64(drawn[bagOf[p.captions[at]]])
				weight := times * d.weight[at]
				sums[d.bin[at]] += times
				sums[bins+int(d.of[at])] += weight
				sums[2*bins] += times
				sums[2*bins+1] += weight
			}
			blocks[b] = sums
		}
		all = append(all, sumBlocks(blocks)...)
	}
	return all
}

// share estimates the share of foreign captions from the counts.
func (f *finder) share(counts []float64) float64 {
	sum, total := 0.0, 0.0
	for _, d := range f.compared {
		if d == nil {
			continue
		}
		bins := len(d.g)
		observed, foreign, captions, weights := counts[:bins], counts[bins:2*bins], counts[2*bins], counts[2*bins+1]
		counts = counts[2*bins+2:]
		for b := range foreign {
			foreign[b] *= captions / max(weights, 1e-9)
		}
		again := densities{g: make([]float64, bins)}
		sum += again.estimate(observed, foreign) * captions
		total += captions
	}
	return sum / max(total, 1)
}
