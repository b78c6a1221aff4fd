package loader

import (
	"cmp"
	"fmt"
	"slices"
)

// Share is the part of an epoch that one of several ranks reads.
type Share struct {
	Rank, Ranks int // Ranks 0 is 1
	// Whole gives each rank whole batches that follow one another, the first ones to rank 0. Otherwise every rank has a
	// part of the bags of each batch, so that the parts have about equally many frames, and Next returns each batch of
	// the epoch: N is 0 if this rank has no bag of it.
	Whole bool
}

// maxRanks bounds the number of ranks.
const maxRanks = 1 << 20

func (s Share) validate() error {
	if s.Ranks < 0 || s.Ranks > maxRanks || s.Rank < 0 || s.Rank >= max(1, s.Ranks) {
		return fmt.Errorf("loader: the share of rank %d of %d: ranks count from 0, and there are at most %d", s.Rank,
			s.Ranks, maxRanks)
	}
	return nil
}

// parts reports whether batches are divided.
func (s Share) parts() bool { return s.Ranks > 1 && !s.Whole }

// reads reports whether this rank reads anything of a batch; batches is the number of all.
func (s Share) reads(number, batches int) bool {
	return !s.Whole || s.Ranks < 2 || number >= s.Rank*batches/s.Ranks && number < (s.Rank+1)*batches/s.Ranks
}

// most returns the largest number of longest bags in a rank's part of a batch with the given number of bags.
func (s Share) most(bags int) int {
	if !s.parts() {
		return bags
	}
	return min(bags, bags/s.Ranks+2)
}

// dealing is how the bags of a batch are dealt to ranks. It keeps its memory from one batch to the next.
type dealing struct {
	partners, order []int // partners of mixup, by their positions in the batch
	units           []unit
	loads           []int // frames of each rank
	mine            []int // positions in the batch, ascending
	local           []int // by position in the batch: the place among mine
	bags            []int // at mine
}

// unit is what goes to one rank as a whole: a bag, or the two bags that mixup mixes. second is -1 for none.
type unit struct{ first, second, frames int }

// deal returns the bags of a batch that this rank reads, in their order. The heaviest go first, each to the rank that
// has the fewest frames by then: a function of the batch, which every rank finds by itself.
func (b *Batch) deal(order []int) []int {
	l, d := b.home, &b.job.dealing
	mixes := l.mixes(b.job.epoch)
	if mixes { // over all bags, so that the pairs do not depend on which rank reads which bag
		d.partners, d.order = resized(d.partners, len(order)), resized(d.order, len(order))
		l.augment.Pairs(d.partners, d.order, b.job.epoch, b.Number)
	}
	if !l.config.Share.parts() {
		return order
	}
	d.units = d.units[:0]
	for i, bag := range order {
		u := unit{i, -1, max(1, l.set.frames(bag))}
		if mixes && d.partners[i] != i {
			u.second = d.partners[i]
			u.frames += max(1, l.set.frames(order[u.second]))
		}
		if u.second < 0 || i < u.second {
			d.units = append(d.units, u)
		}
	}
	d.share(l.config.Share)
	d.bags, d.local = d.bags[:0], resized(d.local, len(order))
	for place, at := range d.mine {
		d.bags, d.local[at] = append(d.bags, order[at]), place
	}
	for place, at := range d.mine {
		if mixes {
			d.order[place] = d.local[d.partners[at]]
		}
	}
	d.partners, d.order = d.order, d.partners // within this rank's part from here on
	return d.bags
}

// share finds the positions of this rank's units.
func (d *dealing) share(s Share) {
	slices.SortStableFunc(d.units, func(a, b unit) int { return cmp.Compare(b.frames, a.frames) })
	d.loads = resized(d.loads, s.Ranks)
	clear(d.loads)
	d.mine = d.mine[:0]
	for _, u := range d.units {
		lightest := 0
		for rank, load := range d.loads {
			if load < d.loads[lightest] {
				lightest = rank
			}
		}
		d.loads[lightest] += u.frames
		if lightest != s.Rank {
			continue
		}
		d.mine = append(d.mine, u.first)
		if u.second >= 0 {
			d.mine = append(d.mine, u.second)
		}
	}
	slices.Sort(d.mine)
}
