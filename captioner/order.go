package captioner

import (
	"cmp"
	"slices"

	"nmn/internal/rng"
)

// pair is a clip with one of its captions.
type pair struct {
	clip  int
	words []int32
}

// pairsOf lists the pairs of a source, clip by clip. The place of a pair is its sample number.
func pairsOf(s Source) []pair {
	var all []pair
	for clip := range s.Clips() {
		for _, words := range s.Captions(clip) {
			all = append(all, pair{clip, words})
		}
	}
	return all
}

// window is the number of batches whose captions are sorted by length.
const window = 32

// order cuts the pairs of an epoch into batches. It depends on seed and epoch alone. A step lasts as long as
// the longest caption of its batch. The pairs are shuffled and sorted by length within a window of batches,
// and then the batches are shuffled. Each pair comes once.
type order struct {
	pairs   []int // by place
	batch   int
	batches rng.Permutation
}

// newOrder draws the order of an epoch, counted from 1.
func newOrder(all []pair, batch int, seed uint64, epoch int) order {
	seed = rng.Derive(seed, "captioning/order")
	o := order{pairs: make([]int, len(all)), batch: batch}
	o.batches = rng.NewPermutation(seed, o.count(), epoch, 1)
	places := rng.NewPermutation(seed, len(all), epoch, 0)
	for i := range o.pairs {
		o.pairs[i] = places.At(i)
	}
	for part := range slices.Chunk(o.pairs, window*batch) {
		slices.SortStableFunc(part, func(a, b int) int { return cmp.Compare(len(all[a].words), len(all[b].words)) })
	}
	return o
}

// count is the number of batches.
func (o order) count() int { return (len(o.pairs) + o.batch - 1) / o.batch }

// at are the pairs of a batch.
func (o order) at(batch int) []int {
	from := o.batches.At(batch) * o.batch
	return o.pairs[from:min(from+o.batch, len(o.pairs))]
}
