package witness

import (
	"context"
	"math"
	"slices"

	"nmn/group"
	"nmn/internal/rng"
)

// atATime is how many resamples ranks sum up at once.
const atATime = 32

// interval resamples bags, with their captions' t as they are: the middle 95 % of the shares of foreign captions. Every
// rank draws all bags, and counts those of its own.
func (f *finder) interval(ctx context.Context, o Options) (Interval, error) {
	if o.Resamples < 1 {
		return Interval{math.NaN(), math.NaN()}, nil
	}
	bagOf := make([]int32, len(f.own))
	for n := range f.in.Captions {
		for at := f.first[n]; at < f.first[n+1]; at++ {
			bagOf[at] = int32(f.start + n)
		}
	}
	seed := rng.Derive(o.Seed, "witness/bags")
	shares := make([]float64, 0, o.Resamples)
	for len(shares) < o.Resamples {
		n := min(atATime, o.Resamples-len(shares))
		own := make([][][]float64, n)
		err := f.each(ctx, n, func() func(int) {
			drawn := make([]uint8, f.bags)
			return func(i int) {
				stream := rng.New(seed, len(shares)+i)
				clear(drawn)
				for range drawn {
					if n := stream.Intn(len(drawn)); drawn[n] < math.MaxUint8 {
						drawn[n]++
					}
				}
				own[i] = f.counts(bagOf, drawn)
			}
		})
		blocks := f.newBlocks()
		for i := 0; i < n && err == nil; i++ {
			for b := range blocks {
				blocks[b] = append(blocks[b], own[i][b]...)
			}
		}
		all, err := group.SumBlocks(f.g, blocks, err)
		if err != nil {
			return Interval{}, err
		}
		each := len(all) / n
		for i := range n {
			shares = append(shares, f.share(all[i*each:(i+1)*each]))
		}
	}
	slices.Sort(shares)
	at := func(q float64) float64 { return shares[int(q*float64(len(shares)-1)+.5)] }
	return Interval{at(.025), at(.975)}, nil
}

// counts are, for each of this rank's blocks and then for each kind of peers that are compared, what its captions add
// where bags count as often as they were drawn: captions in each bin, weights of foreign ones in each bin, and the sums
// of both.
func (f *finder) counts(bagOf []int32, drawn []uint8) [][]float64 {
	blocks := f.newBlocks()
	for i, d := range f.compared {
		if d == nil {
			continue
		}
		p, bins := &f.peers[i], len(d.g)
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
			blocks[b] = append(blocks[b], sums...)
		}
	}
	return blocks
}

// share estimates the share of foreign captions from the counts of all blocks.
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
