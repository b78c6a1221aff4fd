package loader

import "nmn/internal/rng"

// streamOrder is the order of a set that may be too large for a list of its bags; it takes no memory.
//
// The bags are cut into blocks of neighbours in the files. The blocks come in random order, and the blocks of
// a window are mixed bag by bag, so data read at one time are close together in the files. Without blocks all
// bags are mixed with all.
type streamOrder struct {
	n, block, window int // bags; bags of a block; blocks of a window
	seed             uint64
	epoch            int
	shuffle          bool

	blocks rng.Permutation
	short  int // position of the last block, which may have fewer bags
	last   int // bags of that block
}

func newStreamOrder(config Config, epoch, n int) *streamOrder {
	o := &streamOrder{n: n, block: config.Block, window: max(1, config.Window), epoch: epoch, shuffle: config.Shuffle,
		seed: rng.Derive(config.Seed, "loader/window")}
	if o.block == 0 {
		o.block = n
	}
	count := (n + o.block - 1) / o.block
	o.last = n - (count-1)*o.block
	o.blocks = rng.NewPermutation(rng.Derive(config.Seed, "loader/blocks"), count, epoch)
	o.short = o.blocks.Position(count - 1)
	return o
}

func (o *streamOrder) bags(dst []int, from, to int) []int {
	dst = dst[:0]
	for position := from; position < to; position++ {
		dst = append(dst, o.at(position))
	}
	return dst
}

// at is the bag at a position.
func (o *streamOrder) at(position int) int {
	if !o.shuffle {
		return position
	}
	place, _ := o.find(position)
	window := place / o.window
	from, to := o.start(window*o.window), o.start((window+1)*o.window)
	mixed := rng.NewPermutation(o.seed, to-from, o.epoch, window)
	place, offset := o.find(from + mixed.At(position-from))
	return o.blocks.At(place)*o.block + offset
}

// start is the position at which the block at a place begins, in an order of whole blocks.
func (o *streamOrder) start(place int) int {
	if place <= o.short {
		return place * o.block
	}
	return min(o.n, place*o.block-o.block+o.last)
}

// find returns the place of the block that has a position, and which of its bags stands there.
func (o *streamOrder) find(position int) (place, offset int) {
	if position < o.start(o.short) {
		return position / o.block, position % o.block
	}
	behind := position - o.start(o.short+1)
	if behind < 0 {
		return o.short, position - o.start(o.short)
	}
	return o.short + 1 + behind/o.block, behind % o.block
}
