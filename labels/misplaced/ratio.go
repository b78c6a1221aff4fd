package misplaced

import (
	"math"
	"slices"
)

// bins of the densities that are compared.
const (
	mostBins   = 60
	leastInBin = 20  // captions
	lowestOf   = 7.5 // the lowest 1/7.5 of the bins determine the share of foreign captions
	// leastCompared is the share of the foreign captions that the lowest bins must hold at least.
	leastCompared = .05
)

// densities compares t of captions with t of foreign captions in their places. If captions are as likely as
// foreign ones, all are foreign. Nothing has to be calibrated, because correlated words and over-confident
// scores move both alike.
type densities struct {
	edges []float64 // between the bins of t
	g     []float64 // per bin: density of the captions / density of foreign ones, never decreasing
	eps   float64   // share of foreign captions
}

// leastWeight is the weight of a foreign caption that replaces one that surely belongs to its bag.
const leastWeight = .02

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

// own returns the probability that a caption with this t belongs to its bag.
func (d *densities) own(t float64) float64 {
	g := d.g[d.bin(t)]
	if d.eps >= g {
		return 0
	}
	return 1 - d.eps/g
}

// bin is the bin of a t.
func (d *densities) bin(t float64) int {
	bin, found := slices.BinarySearch(d.edges, t)
	if found {
		bin++
	}
	return bin
}

// compare compares t of some captions with t of foreign ones in their places. They are put into bins that hold
// equal numbers of both. votes are the probabilities of the captions to be their bags' own: a foreign caption
// is weighted by the probability that the caption it replaces seems foreign itself. If a fixed number of a
// bag's captions is foreign, the foreign ones have more own captions around them than the others have, and
// give clearer evidence.
func compare(own, foreign, votes []float64) *densities {
	sorted := slices.Concat(own, foreign)
	slices.Sort(sorted)
	bins := min(max(len(own)/leastInBin, 1), mostBins)
	d := &densities{}
	for b := 1; b < bins; b++ {
		d.edges = append(d.edges, sorted[b*len(sorted)/bins])
	}
	d.edges = slices.Compact(d.edges)
	t := newTally(len(d.edges) + 1)
	for i, v := range own {
		t.add(d, v, foreign[i], votes[i])
	}
	d.g, d.eps = t.estimate()
	return d
}

// tally counts captions, and foreign ones in their places, by bins.
type tally struct {
	observed, foreign []float64
	captions          int
	weights           float64 // of the foreign ones
}

func newTally(bins int) *tally {
	return &tally{observed: make([]float64, bins), foreign: make([]float64, bins)}
}

// add adds t of a caption and of a foreign one in its place. vote is the probability that the caption is own.
func (t *tally) add(d *densities, own, foreign, vote float64) {
	weight := 1 - vote + leastWeight
	t.captions++
	t.weights += weight
	t.observed[d.bin(own)]++
	t.foreign[d.bin(foreign)] += weight
}

// estimate finds g, and the share of foreign captions: the mean of g over the lowest bins, where foreign
// captions are nearly alone.
func (t *tally) estimate() (g []float64, eps float64) {
	g = make([]float64, len(t.observed))
	for b := range t.foreign {
		t.foreign[b] *= float64(t.captions) / t.weights
	}
	isotonic(g, t.observed, t.foreign)
	all := 0.0
	for _, n := range t.foreign {
		all += n
	}
	bins, compared := 0, 0.0
	for bins < len(g) && (bins < int(float64(len(g))/lowestOf) || compared < leastCompared*all) {
		eps += g[bins]
		compared += t.foreign[bins]
		bins++
	}
	return g, min(eps/float64(bins), 1)
}

// gain is how much more likely captions are than captions of random bags, in nats, if a share of them is
// foreign: the share of the greatest likelihood. t are their log likelihood ratios.
func gain(t []float64) float64 {
	const rounds = 50
	share := .5
	for range rounds {
		foreign := 0.0
		for _, v := range t {
			foreign += share / (share + (1-share)*math.Exp(min(v, mostExponent)))
		}
		share = foreign / float64(len(t))
	}
	sum := 0.0
	for _, v := range t {
		sum += math.Log(share + (1-share)*math.Exp(min(v, mostExponent)))
	}
	return sum
}
