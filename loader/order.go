package loader

import (
	"nmn/internal/rng"
)

// epochOrder decides which bags stand where in an epoch. It depends on (seed, epoch) and the set alone,
// and any part of it is had without the parts before.
type epochOrder interface {
	// bags returns those at the positions [from, to), in dst or in memory that must not be changed.
	bags(dst []int, from, to int) []int
}

// Order is the order of an epoch's bags.
type Order struct {
	epochOrder
	n, batch int // bags, of the epoch and of a batch
	last     []int
}

// Order returns the order of an epoch for all ranks.
func (l *Loader) Order(epoch int) *Order { return newOrder(l.set, l.config, epoch) }

func newOrder(set *Set, config Config, epoch int) *Order {
	o := &Order{n: set.Len(), batch: config.BatchSize}
	if set.ByBlocks {
		o.epochOrder = newStreamOrder(config, epoch, o.n)
	} else {
		o.epochOrder = listedOrder(config.Seed, epoch, o.n, config.Shuffle)
	}
	return o
}

// Batch lists the bags of a batch, those that cannot be used included. The list holds until the next call, and must not
// be changed.
func (o *Order) Batch(number int) []int {
	o.last = o.batchIn(o.last, number)
	return o.last
}

// batchIn is Batch with memory of the caller's, which is used if it is needed.
func (o *Order) batchIn(dst []int, number int) []int {
	return o.bags(dst, number*o.batch, min((number+1)*o.batch, o.n))
}

// listed is an order in memory.
type listed []int

func (l listed) bags(_ []int, from, to int) []int { return l[from:to] }

// listedOrder lists the bags 0 to n-1: as they stand, or shuffled.
func listedOrder(seed uint64, epoch, n int, shuffle bool) listed {
	order := make(listed, n)
	for i := range order {
		order[i] = i
	}
	if shuffle {
		stream := rng.New(rng.Derive(seed, "loader/order"), epoch)
		stream.Shuffle(order)
	}
	return order
}

// sampleDraws holds the random draws for one bag in one epoch.
type sampleDraws struct {
	flipSeed, keySeed uint64
	flip              bool
}

func newSampleDraws(config Config) sampleDraws {
	return sampleDraws{
		flipSeed: rng.Derive(config.Seed, "loader/flip"),
		keySeed:  rng.Derive(config.Seed, "loader/key"),
		flip:     config.Flip,
	}
}

// mirrored is 1 when the bag is shown mirrored in this epoch, else 0. All frames of a bag agree.
func (d *sampleDraws) mirrored(epoch, bag int) uint8 {
	if !d.flip {
		return 0
	}
	stream := rng.New(d.flipSeed, epoch, bag)
	return uint8(stream.Uint32() >> 31)
}

// key is the number that the dropout masks of one frame start from.
func (d *sampleDraws) key(epoch, bag, frame int) int32 {
	stream := rng.New(d.keySeed, epoch, bag, frame)
	return int32(stream.Uint32())
}

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
