package captioning

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"nmn/group"
	"nmn/model/s2vt"
)

// gatheredPiece is how much of the captions of a rank travels at once.
const gatheredPiece = 1 << 20

// generate makes a caption for each clip, on all ranks.
func (j *Judge) generate(ctx context.Context, net *s2vt.Net) ([]Generated, error) {
	g := group.Of(j.Group)
	if g.Size() == 1 {
		return Generate(ctx, net, j.Words, j.Data, j.Generation, nil)
	}
	own := batchesOf{FrameFeatures: j.Data, batch: max(1, min(j.Batch, j.Data.Clips())), rank: g.Rank(), ranks: g.Size()}
	var generated []Generated
	var err error
	if own.Clips() > 0 {
		generated, err = Generate(ctx, net, j.Words, own, j.Generation, nil)
	}
	if err = group.Agree(g, err); err != nil {
		return nil, err
	}
	message := make([]byte, group.LongPrefix)
	for _, c := range generated {
		message = binary.AppendUvarint(message, uint64(len(c.Caption)))
		message = append(message, c.Caption...)
		message = group.AppendFloat64s(message, c.LogProbability)
	}
	heard, err := group.GatherLong(g, message, gatheredPiece)
	if err != nil {
		return nil, err
	}
	all := make([]Generated, j.Data.Clips())
	for rank, told := range heard {
		theirs := batchesOf{FrameFeatures: j.Data, batch: own.batch, rank: rank, ranks: g.Size()}
		for i := range theirs.Clips() {
			clip := theirs.clip(i)
			length, used := binary.Uvarint(told)
			if used <= 0 || length > uint64(max(0, len(told)-used-8)) {
				return nil, fmt.Errorf("captioning: rank %d (%s) tells of fewer captions than it was given clips: all ranks "+
					"need the same data", rank, g.Names()[rank])
			}
			text, rest := told[used:used+int(length)], told[used+int(length):]
			all[clip] = Generated{j.Data.ID(clip), string(text), math.Float64frombits(binary.LittleEndian.Uint64(rest))}
			told = rest[8:]
		}
	}
	return all, nil
}

// batchesOf are the clips of the batches that fall to a rank, which takes every batch of so many in turn.
type batchesOf struct {
	FrameFeatures
	batch, rank, ranks int
}

// Clips is how many they are.
func (b batchesOf) Clips() int {
	all := b.FrameFeatures.Clips()
	count := 0
	for first := b.rank * b.batch; first < all; first += b.ranks * b.batch {
		count += min(b.batch, all-first)
	}
	return count
}

// clip is the number of the i-th among all clips.
func (b batchesOf) clip(i int) int { return (i/b.batch*b.ranks+b.rank)*b.batch + i%b.batch }

// ID implements FrameFeatures.
func (b batchesOf) ID(i int) string { return b.FrameFeatures.ID(b.clip(i)) }

// FrameCount implements FrameFeatures.
func (b batchesOf) FrameCount(i int) int { return b.FrameFeatures.FrameCount(b.clip(i)) }

// Features implements FrameFeatures.
func (b batchesOf) Features(i int, dst []float32) error {
	return b.FrameFeatures.Features(b.clip(i), dst)
}
