package local_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"nmn/group"
)

// Messages arrive whole whatever their lengths, and no piece of them is longer than was asked for.
func TestGatherLong_BringsMessagesOfAnyLength(t *testing.T) {
	const piece = 64
	message := func(rank, length int) []byte { return bytes.Repeat([]byte{byte(1 + rank)}, length) }
	for _, lengths := range [][3]int{{0, 0, 0}, {1, 0, 56}, {56, 57, 55}, {1000, 3, 64}, {0, 120, 121}} {
		for rank, err := range onEach(t, 3, time.Minute, func(g group.Group) error {
			own := append(make([]byte, group.LongPrefix), message(g.Rank(), lengths[g.Rank()])...)
			all, err := group.GatherLong(short{g, piece}, own, piece)
			if err != nil {
				return err
			}
			for of, got := range all {
				if !bytes.Equal(got, message(of, lengths[of])) {
					return fmt.Errorf("%d bytes of rank %d arrive as %d", lengths[of], of, len(got))
				}
			}
			return nil
		}) {
			if err != nil {
				t.Errorf("lengths %v, rank %d: %v", lengths, rank, err)
			}
		}
	}
}

// short refuses what is longer than a piece.
type short struct {
	group.Group
	piece int
}

func (s short) Gather(own []byte) ([][]byte, error) {
	if len(own) > s.piece {
		return nil, fmt.Errorf("%d bytes at once", len(own))
	}
	return s.Group.Gather(own)
}
