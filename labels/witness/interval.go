package witness

import (
	"context"
	"math"
	"slices"

	"nmn/internal/rng"
)

// interval resamples bags, with their captions' t as they are: the middle 95 % of the shares of foreign captions.
func (f *finder) interval(ctx context.Context, o Options) (Interval, error) {
	if o.Resamples < 1 {
		return Interval{math.NaN(), math.NaN()}, nil
	}
	bagOf := make([]int32, len(f.own))
	for n := range f.in.Captions {
		for at := f.first[n]; at < f.first[n+1]; at++ {
			bagOf[at] = int32(n)
		}
	}
	seed := rng.Derive(o.Seed, "witness/bags")
	shares := make([]float64, o.Resamples)
	err := f.each(ctx, o.Resamples, func() func(int) {
		drawn := make([]uint8, len(f.in.Captions))
		return func(i int) {
			stream := rng.New(seed, i)
			clear(drawn)
			for range drawn {
				if n := stream.Intn(len(drawn)); drawn[n] < math.MaxUint8 {
					drawn[n]++
				}
			}
			shares[i] = f.share(bagOf, drawn)
		}
	})
	if err != nil {
		return Interval{}, err
	}
	slices.Sort(shares)
	at := func(q float64) float64 { return shares[int(q*float64(len(shares)-1)+.5)] }
	return Interval{at(.025), at(.975)}, nil
}

// share estimates the share of foreign captions when bags count as often as they were drawn.
func (f *finder) share(bagOf []int32, drawn []uint8) float64 {
	sum, total := 0.0, 0.0
	for i, d := range f.compared {
		if d == nil {
			continue
		}
		observed, foreign := make([]float64, len(d.g)), make([]float64, len(d.g))
		captions, weights := 0.0, 0.0
		for at, caption := range f.groups[i].captions {
			times := float64(drawn[bagOf[caption]])
			observed[d.bin[at]] += times
			foreign[d.of[at]] += times * d.weight[at]
			captions += times
			weights += times * d.weight[at]
		}
		for b := range foreign {
			foreign[b] *= captions / max(weights, 1e-9)
		}
		again := densities{g: make([]float64, len(d.g))}
		sum += again.estimate(observed, foreign) * captions
		total += captions
	}
	return sum / max(total, 1)
}
