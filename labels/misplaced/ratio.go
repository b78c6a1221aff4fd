package misplaced

import "math"

// bins of the densities that are compared.
const (
	mostBins   = 60
	leastInBin = 20  // captions
	lowestOf   = 7.5 // the lowest 1/7.5 of the bins determine the share of foreign captions
	// leastCompared is the share of the foreign captions that the lowest bins must hold at least.
	leastCompared = .05
)

// densities compares t of a group of captions with t of foreign captions in their places. If captions are as
// likely as foreign ones, all are foreign. Nothing has to be calibrated, because correlated words and
// over-confident scores move both alike.
type densities struct {
	bin    []uint8   // of each caption of the group
	of     []uint8   // per foreign caption
	weight []float64 // per foreign caption; the mean is 1
	g      []float64 // per bin: density of the captions / density of foreign ones, never decreasing
	eps    float64   // share of foreign captions
}

// leastWeight is the weight of a foreign caption that replaces one that surely belongs to its bag.
const leastWeight = .02

// estimate finds g from the captions in each bin, and the share of foreign captions: the mean of g over the lowest
// bins, where foreign captions are nearly alone.
func (d *densities) estimate(observed, foreign []float64) (eps float64) {
	isotonic(d.g, observed, foreign)
	all := 0.0
	for _, n := range foreign {
		all += n
	}
	bins, compared := 0, 0.0
	for bins < len(d.g) && (bins < int(float64(len(d.g))/lowestOf) || compared < leastCompared*all) {
		eps += d.g[bins]
		compared += foreign[bins]
		bins++
	}
	return min(eps/float64(bins), 1)
}

// isotonic sets g to observed/foreign, made non-decreasing by pooling neighbours (pool adjacent violators).
func isotonic(g, observed, foreign []float64) {
	type pool struct {
		observed, foreign float64
		bins              int
	}
	ratio := func(p pool) float64 {
		if p.foreign == 0 {
			if p.observed == 0 {
				return 0
			}
			return math.Inf(1)
		}
		return p.observed / p.foreign
	}
	var pools []pool
	for i := range g {
		pools = append(pools, pool{observed[i], foreign[i], 1})
		for len(pools) > 1 {
			a, b := pools[len(pools)-2], pools[len(pools)-1]
			if ratio(a) <= ratio(b) {
				break
			}
			pools = append(pools[:len(pools)-2], pool{a.observed + b.observed, a.foreign + b.foreign, a.bins + b.bins})
		}
	}
	i := 0
	for _, p := range pools {
		for range p.bins {
			g[i] = ratio(p)
			i++
		}
	}
}

// own returns the probability that the caption at a place of the group belongs to its bag.
func (d *densities) own(i int) float64 {
	g := d.g[d.bin[i]]
	if d.eps >= g {
		return 0
	}
	return 1 - d.eps/g
}
