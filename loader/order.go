package loader

import "nmn/rng"

// epochOrder lists the bags 0 to n-1 in the order of an epoch: as they stand, or in a permutation
// that depends on (seed, epoch) alone.
func epochOrder(seed uint64, epoch, n int, shuffle bool) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	if shuffle {
		stream := rng.New(rng.Derive(seed, "loader/order"), epoch)
		stream.Shuffle(order)
	}
	return order
}

// sampleDraws draws what is random about one bag in one epoch.
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
