package witness

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"nmn/group"
)

// Bags are handled in blocks, which ranks and goroutines share: sums are added block by block, so that results depend
// neither on how many goroutines nor on how many ranks there are. More than mostBlocks ranks have nothing to do.
const (
	fewBlocks   = 16
	mostBlocks  = 64
	manyBlocked = 1 << 18 // bags that fill the blocks of so many ranks
)

func blocksOf(bags int) int {
	if bags < manyBlocked {
		return fewBlocks
	}
	return mostBlocks
}

// Share are the bags, from one up to another, that fall to a rank of a group, of so many bags in all.
func Share(g group.Group, bags int) (from, to int) {
	blocks := blocksOf(bags)
	from, to = group.Share(group.Of(g), blocks)
	return from * bags / blocks, to * bags / blocks
}

// Share cuts a rank's share out of an input of all bags, which it does not hold on to.
func (in Input) Share(g group.Group) Input {
	if group.Of(g).Size() == 1 {
		return in
	}
	in.Bags = len(in.Captions)
	from, to := Share(g, in.Bags)
	in.Captions = slices.Clone(in.Captions[from:to])
	if in.Scores == nil {
		return in
	}
	if in.Scored == nil {
		in.Scores = append([]float32{}, in.Scores[from*in.Classes:to*in.Classes]...) // not nil, even if empty
		return in
	}
	all := in
	in.Scores, in.Scored = []float32{}, []int{}
	for row, n := range all.Scored {
		if n >= from && n < to {
			in.Scores = append(in.Scores, all.Scores[row*in.Classes:(row+1)*in.Classes]...)
			in.Scored = append(in.Scored, n-from)
		}
	}
	return in
}

// checkShare reports an input that is not this rank's share of all bags.
func (in *Input) checkShare(g group.Group) error {
	if in.Bags == 0 && g.Size() == 1 {
		return nil
	}
	if from, to := Share(g, in.Bags); len(in.Captions) != to-from {
		return fmt.Errorf("witness: captions of %d bags on rank %d of %d, want those of the %d from %d on, of %d in all",
			len(in.Captions), g.Rank(), g.Size(), to-from, from, in.Bags)
	}
	return nil
}

// shapes say of each bag of all ranks how many captions it has, and whether it has scores.
type shapes []uint32

func (s shapes) captions(n int) int { return int(s[n] >> 1) }
func (s shapes) scored(n int) bool  { return s[n]&1 == 1 }

// gatherShapes finds the shapes of all bags.
func (f *finder) gatherShapes() error {
	data := make([]byte, 0, len(f.in.Captions))
	header := []uint64{uint64(f.in.Classes), 0}
	if f.in.Scores != nil {
		header[1] = 1
	}
	for _, v := range header {
		data = binary.AppendUvarint(data, v)
	}
	for n, captions := range f.in.Captions {
		shape := uint64(len(captions)) << 1
		if f.scoresOf(n) != nil {
			shape |= 1
		}
		data = binary.AppendUvarint(data, shape)
	}
	all, err := group.Exchange(f.g, data, nil)
	if err != nil {
		return err
	}
	f.shapes = make(shapes, 0, f.bags)
	for rank, data := range all {
		for i := range header {
			v, used := binary.Uvarint(data)
			if used <= 0 || v != header[i] {
				return fmt.Errorf("witness: rank %d has other words than rank %d, or other bags with scores", rank, f.g.Rank())
			}
			data = data[used:]
		}
		for len(data) > 0 {
			shape, used := binary.Uvarint(data)
			if used <= 0 {
				return fmt.Errorf("witness: rank %d sends a part of a number", rank)
			}
			f.shapes = append(f.shapes, uint32(shape))
			f.captions += int(shape >> 1)
			data = data[used:]
		}
	}
	switch {
	case len(f.shapes) != f.bags:
		return fmt.Errorf("witness: all ranks together have %d bags of %d", len(f.shapes), f.bags)
	case f.captions > mostBags:
		return fmt.Errorf("witness: %d captions, at most %d can be judged at once", f.captions, mostBags)
	}
	return nil
}

// eachOwn hands out this rank's blocks of bags to goroutines: their places in Captions, from one up to another.
func (f *finder) eachOwn(ctx context.Context, handle func(block, from, to int)) error {
	return f.each(ctx, f.lastBlock-f.firstBlock, func() func(int) {
		return func(b int) {
			from, to := f.block(b)
			handle(b, from, to)
		}
	})
}

// block are the bags of one of this rank's blocks.
func (f *finder) block(b int) (from, to int) {
	b += f.firstBlock
	return b*f.bags/f.blocks - f.start, (b+1)*f.bags/f.blocks - f.start
}

// eachBlock hands out this rank's blocks of bags to goroutines; start makes what handles the bags of a block, in order.
func (f *finder) eachBlock(ctx context.Context, start func(block int) func(bag int)) error {
	return f.eachOwn(ctx, func(block, from, to int) {
		handle := start(block)
		for n := from; n < to; n++ {
			if n%64 == 0 && ctx.Err() != nil {
				return // each has the error
			}
			handle(n)
		}
	})
}

// newBlocks are places for a vector of each of this rank's blocks.
func (f *finder) newBlocks() [][]float64 { return make([][]float64, f.lastBlock-f.firstBlock) }

// sumCaptions adds what is found of all captions, of all ranks; sum adds up those of a block, from one up to another.
func (f *finder) sumCaptions(ctx context.Context, sum func(from, to int) float64) (float64, error) {
	own := f.newBlocks()
	err := f.eachOwn(ctx, func(block, from, to int) {
		own[block] = []float64{sum(f.first[from], f.first[to])}
	})
	total, err := group.SumBlocks(f.g, own, err)
	if err != nil {
		return 0, err
	}
	return total[0], nil
}

// votesOfAll are the votes of the captions of all ranks.
func (f *finder) votesOfAll() ([]float64, error) {
	if f.g.Size() == 1 {
		return f.votes, nil
	}
	const piece = 1 << 17
	left, all := f.votes, make([][]float64, f.g.Size())
	votes := make([]float64, 0, f.captions)
	captionsOf := func(rank int) int { // ranks have neighbouring bags
		from, to := rank*f.blocks/f.g.Size(), (rank+1)*f.blocks/f.g.Size()
		n := 0
		for bag := from * f.bags / f.blocks; bag < to*f.bags/f.blocks; bag++ {
			n += f.shapes.captions(bag)
		}
		return n
	}
	for rank := range all {
		n := captionsOf(rank)
		all[rank] = votes[len(votes) : len(votes) : len(votes)+n]
		votes = votes[:len(votes)+n]
	}
	err := group.Stream(f.g, func() ([]byte, error) {
		n := min(piece, len(left))
		data := group.AppendFloat64s(nil, left[:n]...)
		left = left[n:]
		return data, nil
	}, func(rank int, data []byte) error {
		theirs, err := group.Float64s(data)
		if len(theirs) > cap(all[rank])-len(all[rank]) {
			return errors.New("witness: there are more votes than captions")
		}
		all[rank] = append(all[rank], theirs...)
		return err
	})
	return votes, err
}
