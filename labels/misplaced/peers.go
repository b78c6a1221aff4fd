package misplaced

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
)

// peers are captions whose t can be compared.
type peers struct {
	captions []int32 // ascending
	scored   bool    // their bags have scores
	lone     bool    // they have no witness: neither others of their bag nor scores
}

// likeness is what peers have in common.
type likeness struct{ scored, captions int }

func (f *finder) likeness(n int) likeness {
	captions := len(f.in.Captions[n])
	k := likeness{captions: min(captions, 4)}
	if captions > 4 {
		k.captions = 1 + int(math.Log2(float64(captions))*2) // from 5 on
	}
	if f.scored(n) {
		k.scored = 1
	}
	return k
}

// makePeers puts together captions of bags with or without scores, and with similar numbers of captions: enough of them
// to compare densities.
func (f *finder) makePeers() {
	const least = 2000
	captions := map[likeness]int{}
	for n, own := range f.in.Captions {
		if len(own) > 0 {
			captions[f.likeness(n)] += len(own)
		}
	}
	kinds := slices.SortedFunc(maps.Keys(captions), func(a, b likeness) int {
		return cmp.Or(cmp.Compare(a.scored, b.scored), cmp.Compare(a.captions, b.captions))
	})
	of := map[likeness]int{}
	var sizes []int
	for _, k := range kinds {
		p := peers{scored: k.scored == 1, lone: k == likeness{0, 1}}
		if last := len(f.peers) - 1; last >= 0 {
			before := &f.peers[last]
			if before.scored == p.scored && !before.lone && (sizes[last] < least || captions[k] < least) {
				sizes[last] += captions[k]
				of[k] = last
				continue
			}
		}
		of[k] = len(f.peers)
		f.peers, sizes = append(f.peers, p), append(sizes, captions[k])
	}
	for i, size := range sizes {
		f.peers[i].captions = make([]int32, 0, size)
	}
	for n, captions := range f.in.Captions {
		if len(captions) == 0 {
			continue
		}
		p := &f.peers[of[f.likeness(n)]]
		for c := range captions {
			p.captions = append(p.captions, int32(f.first[n]+c))
		}
	}
}

// unseen reports whether the captions have no witness.
func (f *finder) unseen(p *peers) bool { return p.lone || f.scoresAlone && !p.scored }

// vote gives every caption that has a witness its probability to be of its bag, and finds the share of foreign ones.
func (f *finder) vote(ctx context.Context) error {
	f.compared = make([]*densities, len(f.peers))
	sum, total := 0.0, 0.0
	for i := range f.peers {
		p := &f.peers[i]
		if f.unseen(p) {
			continue
		}
		d, err := f.compare(ctx, p)
		if err != nil {
			return err
		}
		for i, at := range p.captions {
			f.votes[at] = d.own(i)
		}
		f.compared[i] = d
		sum += d.eps * float64(len(p.captions))
		total += float64(len(p.captions))
	}
	f.eps = sum / max(total, 1)
	for i, p := range f.peers {
		if f.compared[i] == nil {
			for _, at := range p.captions {
				f.votes[at] = 1 - f.eps
			}
		}
	}
	return nil
}

// eachPeer hands out the peers of blocks to goroutines: places of their captions, from one up to another.
func (f *finder) eachPeer(ctx context.Context, p *peers, handle func(block, from, to int)) error {
	return f.blocksOfBags(ctx, func(block, from, to int) {
		first, last := p.between(f.first[from], f.first[to])
		handle(block, first, last)
	})
}

// between are the places of the captions from one up to another.
func (p *peers) between(from, to int) (first, last int) {
	first, _ = slices.BinarySearch(p.captions, int32(from))
	last, _ = slices.BinarySearch(p.captions, int32(to))
	return first, last
}

// compare makes bins with equal numbers of captions of both kinds. A foreign caption is weighted by the
// probability that the caption it replaces seems foreign itself. If a fixed number of a bag's captions is
// foreign, the foreign ones have more own captions around them than the others have, and give clearer
// evidence.
func (f *finder) compare(ctx context.Context, p *peers) (*densities, error) {
	edges, n := f.edges(p), len(p.captions)
	d := &densities{bin: make([]uint8, n), of: make([]uint8, n), weight: make([]float64, n),
		g: make([]float64, len(edges)+1)}
	own := make([][]float64, f.blocks)
	err := f.eachPeer(ctx, p, func(block, from, to int) {
		sum := 0.0
		for i := from; i < to; i++ {
			d.weight[i] = 1 - f.votes[p.captions[i]] + leastWeight
			sum += d.weight[i]
		}
		own[block] = []float64{sum}
	})
	if err != nil {
		return nil, err
	}
	scale, bins := float64(n)/sumBlocks(own)[0], len(d.g)
	err = f.eachPeer(ctx, p, func(block, from, to int) {
		counts := make([]float64, 2*bins) // observed, then foreign
		for i := from; i < to; i++ {
			at := p.captions[i]
			d.bin[i], d.of[i] = place(f.own[at], edges), place(f.null[at], edges)
			d.weight[i] *= scale
			counts[d.bin[i]]++
			counts[bins+int(d.of[i])] += d.weight[i]
		}
		own[block] = counts
	})
	if err != nil {
		return nil, err
	}
	counts := sumBlocks(own)
	d.eps = d.estimate(counts[:bins], counts[bins:])
	return d, nil
}

// edges returns the edges between the bins.
func (f *finder) edges(p *peers) []float64 {
	bins := min(max(len(p.captions)/leastInBin, 1), mostBins)
	var places []int
	for b := 1; b < bins; b++ {
		places = append(places, b*2*len(p.captions)/bins)
	}
	return slices.Compact(f.ordered(p, places))
}

// place is the bin of a value.
func place(v float64, edges []float64) uint8 {
	low, high := 0, len(edges)
	for low < high {
		if middle := (low + high) / 2; edges[middle] <= v {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return uint8(low)
}
