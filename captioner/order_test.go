package captioner

import (
	"slices"
	"testing"
)

// mixed are pairs with captions of 1 to 20 words.
func mixed(count int) []pair {
	all := make([]pair, count)
	for i := range all {
		all[i].words = make([]int32, 1+i*7%20)
	}
	return all
}

func TestOrder_EachPairOnceInBatchesOfLikeLengths(t *testing.T) {
	all := mixed(1003)
	o := newOrder(all, 8, 5, 1)
	seen, steps, words := make([]int, len(all)), 0, 0
	var longest []int
	for batch := range o.count() {
		most := 0
		for _, i := range o.at(batch) {
			seen[i]++
			most = max(most, len(all[i].words))
			words += len(all[i].words)
		}
		steps += most * len(o.at(batch))
		longest = append(longest, most)
	}
	for i, n := range seen {
		if n != 1 {
			t.Fatalf("pair %d comes %d times", i, n)
		}
	}
	if steps > words*11/10 {
		t.Errorf("%d steps for %d words: captions of like lengths are to be together", steps, words)
	}
	if slices.IsSorted(longest[:32]) {
		t.Error("batches come by length")
	}
}

func TestOrder_DependsOnSeedAndEpoch(t *testing.T) {
	all := mixed(100)
	draw := func(seed uint64, epoch int) (pairs []int) {
		o := newOrder(all, 8, seed, epoch)
		for batch := range o.count() {
			pairs = append(pairs, o.at(batch)...)
		}
		return pairs
	}
	if !slices.Equal(draw(1, 1), draw(1, 1)) {
		t.Error("the same seed and epoch give two orders")
	}
	if slices.Equal(draw(1, 1), draw(1, 2)) || slices.Equal(draw(1, 1), draw(2, 1)) {
		t.Error("another epoch or seed gives the same order")
	}
}

// Both draws of an order are new in every epoch: which pairs stand together, and the order of the batches.
func TestOrder_EveryEpochDrawsPairsAndBatches(t *testing.T) {
	all := mixed(100)
	batches := func(o order) (places []int) {
		for batch := range o.count() {
			places = append(places, o.batches.At(batch))
		}
		return places
	}
	for seed := range uint64(3) {
		one, two := newOrder(all, 8, seed, 1), newOrder(all, 8, seed, 2)
		if slices.Equal(one.pairs, two.pairs) {
			t.Errorf("seed %d: the same pairs stand together in both epochs", seed)
		}
		if slices.Equal(batches(one), batches(two)) {
			t.Errorf("seed %d: the batches of both epochs come in the same order", seed)
		}
	}
}
