package neighbours

import (
	"encoding/binary"
	"errors"
	"math"

	"nmn/group"
)

// gather gives every rank the neighbours of all rows; those of the rows from one up to another are its own. err is this
// rank's failure, if any.
func (s *search) gather(from, to int, err error) error {
	if s.ranks.Size() == 1 {
		return err
	}
	const pieceOf, bytes = 1 << 16, 12
	next := from * s.k
	return group.Stream(s.ranks, func() ([]byte, error) {
		var data []byte
		if err != nil || from >= to {
			return nil, err
		}
		if next < to*s.k { // a piece begins with the number of its first neighbour
			data = binary.LittleEndian.AppendUint64(nil, uint64(next))
		}
		for end := min(next+pieceOf, to*s.k); next < end; next++ {
			data = binary.LittleEndian.AppendUint32(data, uint32(s.nearest[next].row))
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(s.nearest[next].distance))
		}
		return data, nil
	}, func(rank int, data []byte) error {
		if rank == s.ranks.Rank() {
			return nil
		}
		if len(data) < 8 {
			return errors.New("a rank sends a part of a neighbour")
		}
		at := binary.LittleEndian.Uint64(data)
		for data = data[8:]; len(data) >= bytes; data = data[bytes:] {
			if at >= uint64(len(s.nearest)) {
				return errors.New("a rank has more neighbours than there are: all must read the same features")
			}
			s.nearest[at] = near{int32(binary.LittleEndian.Uint32(data)), math.Float64frombits(binary.LittleEndian.Uint64(data[4:]))}
			at++
		}
		return nil
	})
}
