package group

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Exchange is Gather among ranks of which some may have failed before it: err is this rank's failure, nil for none. Where
// all are well it returns what each rank gives; otherwise it returns an error on every rank, as Agree does, and the
// group goes on.
func Exchange(g Group, own []byte, err error) ([][]byte, error) {
	if g.Size() == 1 {
		return [][]byte{own}, err
	}
	told := Status(err)
	if err == nil {
		told = append(told, own...)
	}
	all, gathering := g.Gather(told)
	switch {
	case err != nil && (gathering == nil || errors.Is(err, gathering)):
		return nil, err
	case gathering != nil:
		return nil, errors.Join(err, gathering)
	}
	if err := Heard(g, all); err != nil {
		return nil, err
	}
	for rank, told := range all {
		if len(told) == 0 {
			return nil, fmt.Errorf("group: rank %d (%s) exchanges nothing", rank, g.Names()[rank])
		}
		all[rank] = told[1:]
	}
	return all, nil
}

// Stream passes pieces of all ranks around until nobody has any left, so that no rank has to hold more than one of each:
// next returns the next piece of this rank, empty once there are no more, and take gets every rank's, in the order of
// the ranks, this one's too. What take gets holds until it returns. An error of one of them ends the stream on every
// rank, as Agree does.
func Stream(g Group, next func() ([]byte, error), take func(rank int, piece []byte) error) error {
	var failure error
	for {
		own, err := next()
		pieces, err := Exchange(g, own, errors.Join(failure, err))
		if err != nil {
			return err
		}
		more := false
		for rank, piece := range pieces {
			if len(piece) > 0 {
				more = true
				failure = errors.Join(failure, take(rank, piece))
			}
		}
		if !more {
			return nil
		}
	}
}

// Alike returns an error on every rank where ranks say different things of what must be the same for all of them, as the
// sizes of their inputs. err is as in Exchange.
func Alike(g Group, what string, err error) error {
	all, err := Exchange(g, []byte(what), err)
	if err != nil {
		return err
	}
	for rank, other := range all {
		if string(other) != string(all[0]) {
			return fmt.Errorf("rank %d (%s) has %s, rank 0 %s: all ranks must read the same files", rank, g.Names()[rank],
				other, all[0])
		}
	}
	return nil
}

// Share are those of n things, from one up to another, that fall to the rank: neighbouring ones, as many for each rank
// as can be.
func Share(g Group, n int) (from, to int) {
	rank, size := g.Rank(), g.Size()
	return rank * n / size, (rank + 1) * n / size
}

// AppendFloat64s appends the bits of values to b.
func AppendFloat64s(b []byte, values ...float64) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// Float64s are the values that AppendFloat64s appended.
func Float64s(b []byte) ([]float64, error) {
	if len(b)%8 != 0 {
		return nil, fmt.Errorf("group: %d bytes are no numbers of 8", len(b))
	}
	values := make([]float64, len(b)/8)
	for i := range values {
		values[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return values, nil
}

// SumBlocks adds vectors of blocks, of which each rank has neighbouring ones, in the order of the blocks: as long as the
// blocks are the same, every number of ranks gets the same bits. All vectors are of one length; err is as in Exchange.
func SumBlocks(g Group, own [][]float64, err error) ([]float64, error) {
	var data []byte
	if g.Size() > 1 && err == nil {
		for _, block := range own {
			data = binary.AppendUvarint(data, uint64(len(block)))
			data = AppendFloat64s(data, block...)
		}
	}
	all, err := Exchange(g, data, err)
	if err != nil {
		return nil, err
	}
	s := sumOfBlocks{}
	if g.Size() == 1 {
		for _, block := range own {
			if err := s.add(0, block); err != nil {
				return nil, err
			}
		}
		return s.total, nil
	}
	for rank, data := range all {
		for len(data) > 0 {
			n, used := binary.Uvarint(data)
			if used <= 0 || n > uint64(len(data)-used)/8 {
				return nil, fmt.Errorf("group: rank %d sends a part of a block", rank)
			}
			block, err := Float64s(data[used : used+8*int(n)])
			if err != nil {
				return nil, err
			}
			if err := s.add(rank, block); err != nil {
				return nil, err
			}
			data = data[used+8*int(n):]
		}
	}
	return s.total, nil
}

// sumOfBlocks is begun with the first.
type sumOfBlocks struct {
	total []float64
	begun bool
}

func (s *sumOfBlocks) add(rank int, block []float64) error {
	if !s.begun {
		s.begun, s.total = true, append([]float64(nil), block...)
		return nil
	}
	if len(block) != len(s.total) {
		return fmt.Errorf("group: a block of rank %d has %d numbers, others %d", rank, len(block), len(s.total))
	}
	for i, v := range block {
		s.total[i] += v
	}
	return nil
}

// SumCounts adds counts of all ranks, in place. Many of them may be zero; err is as in Exchange.
func SumCounts(g Group, counts []int, err error) error {
	if g.Size() == 1 {
		return err
	}
	data := make([]byte, 0, len(counts))
	for _, n := range counts {
		data = binary.AppendVarint(data, int64(n))
	}
	all, err := Exchange(g, data, err)
	if err != nil {
		return err
	}
	clear(counts)
	for rank, data := range all {
		for i := range counts {
			n, used := binary.Varint(data)
			if used <= 0 {
				return fmt.Errorf("group: rank %d sends fewer than %d counts", rank, len(counts))
			}
			counts[i] += int(n)
			data = data[used:]
		}
	}
	return nil
}
