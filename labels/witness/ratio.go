package witness

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// bins of the densities that are compared.
const (
	mostBins   = 60
	leastInBin = 20  // captions
	lowestOf   = 7.5 // the lowest bins, one of so many, tell the share of foreign captions
	// leastCompared is the share of the foreign captions that the lowest bins must hold at least.
	leastCompared = .05
)

// densities compares t of a group of captions with t of foreign captions in their places. Where captions are as likely
// as foreign ones, all are foreign; nothing has to be calibrated, for correlated words and over-confident scores move
// both alike.
type densities struct {
	bin    []int32   // of each caption of the group
	of     []int32   // of each foreign one
	weight []float64 // of each foreign one; the mean is 1
	g      []float64 // of each bin: density of the captions / density of foreign ones, never decreasing
	eps    float64   // share of foreign captions
}

// leastWeight is that of a foreign caption in the place of one that is surely its bag's own.
const leastWeight = .02

// compare makes bins of equally many captions of both kinds. Each foreign caption counts as much as the one in whose place
// it is judged seems foreign itself: where a fixed number of a bag's captions is foreign, those of them have more own ones
// beside them than the others, and speak more clearly.
func compare(own, null, weight []float64) *densities {
	both := sorted(slices.Concat(own, null))
	bins := min(max(len(own)/leastInBin, 1), mostBins)
	var edges []float64 // upper ones, but for the last
	for b := 1; b < bins; b++ {
		edge := both[b*len(both)/bins]
		if len(edges) == 0 || edge > edges[len(edges)-1] {
			edges = append(edges, edge)
		}
	}
	d := &densities{bin: place(own, edges), of: place(null, edges), weight: weight, g: make([]float64, len(edges)+1)}
	observed, foreign := make([]float64, len(d.g)), make([]float64, len(d.g))
	sum := 0.0
	for _, w := range weight {
		sum += w
	}
	for i := range d.bin {
		weight[i] *= float64(len(weight)) / sum
		observed[d.bin[i]]++
		foreign[d.of[i]] += weight[i]
	}
	d.eps = d.estimate(observed, foreign)
	return d
}

func place(values, edges []float64) []int32 {
	bins := make([]int32, len(values))
	for i, v := range values {
		low, high := 0, len(edges)
		for low < high {
			if middle := (low + high) / 2; edges[middle] <= v {
				low = middle + 1
			} else {
				high = middle
			}
		}
		bins[i] = int32(low)
	}
	return bins
}

// estimate finds g from the captions in each bin, and the share of foreign captions: the mean of g over the lowest bins,
// where foreign captions are nearly alone.
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

// own is the probability that the caption at a place of the group is of its bag.
func (d *densities) own(i int) float64 {
	g := d.g[d.bin[i]]
	if d.eps >= g {
		return 0
	}
	return 1 - d.eps/g
}

// group are captions whose t can be compared.
type group struct {
	captions []int32
	scored   bool // their bags have scores
	lone     bool // they have no witness: neither others of their bag nor scores
}

// makeGroups puts together captions of bags with or without scores, and with similar numbers of captions: enough of them
// to compare densities.
func (f *finder) makeGroups() {
	const least = 2000
	type kind struct{ scored, captions int }
	of := map[kind][]int32{}
	for n, captions := range f.in.Captions {
		k := kind{captions: min(len(captions), 4)}
		if len(captions) > 4 {
			k.captions = 1 + int(math.Log2(float64(len(captions)))*2) // from 5 on
		}
		if f.scoresOf(n) != nil {
			k.scored = 1
		}
		for c := range captions {
			of[k] = append(of[k], int32(f.first[n]+c))
		}
	}
	kinds := slices.SortedFunc(maps.Keys(of), func(a, b kind) int {
		return cmp.Or(cmp.Compare(a.scored, b.scored), cmp.Compare(a.captions, b.captions))
	})
	for _, k := range kinds {
		g := group{captions: of[k], scored: k.scored == 1, lone: k == kind{0, 1}}
		if last := len(f.groups) - 1; last >= 0 {
			before := &f.groups[last]
			if before.scored == g.scored && !before.lone && (len(before.captions) < least || len(g.captions) < least) {
				before.captions = append(before.captions, g.captions...)
				continue
			}
		}
		f.groups = append(f.groups, g)
	}
}

// vote gives every caption that has a witness its probability to be of its bag, and finds the share of foreign ones.
func (f *finder) vote() {
	f.compared = make([]*densities, len(f.groups))
	sum, total := 0.0, 0.0
	for i := range f.groups {
		if f.unseen(&f.groups[i]) {
			continue
		}
		group := f.groups[i].captions
		own, null, weight := make([]float64, len(group)), make([]float64, len(group)), make([]float64, len(group))
		for i, at := range group {
			own[i], null[i], weight[i] = f.own[at], f.null[at], 1-f.votes[at]+leastWeight
		}
		d := compare(own, null, weight)
		for i, at := range group {
			f.votes[at] = d.own(i)
		}
		f.compared[i] = d
		sum += d.eps * float64(len(group))
		total += float64(len(group))
	}
	f.eps = sum / max(total, 1)
	for i, group := range f.groups {
		if f.compared[i] == nil {
			for _, at := range group.captions {
				f.votes[at] = 1 - f.eps
			}
		}
	}
}

// unseen reports whether the captions of a group have no witness.
func (f *finder) unseen(g *group) bool { return g.lone || f.scoresAlone && !g.scored }
