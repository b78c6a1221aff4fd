package train

import (
	"cmp"
	"fmt"

	"nmn/group"
)

// gatheredPiece is how much of a message travels from each rank at once.
const gatheredPiece = 8 << 20

// exchange has the ranks of a group tell each other what they have scored. The memory of messages is used again.
type exchange struct {
	group group.Group
	sent  []byte
	heard []message // of all ranks, until the next call of tell
}

// tell has every rank hear the message of this one, with the results of its batch, or that it has failed; and this rank
// those of all. Where a rank has failed, that is an error on all ranks.
func (x *exchange) tell(own *message, results [][]float32, failure error) error {
	own.status = group.Status(failure)
	x.sent = own.append(x.sent[:0], results)
	all, err := group.GatherLong(x.group, x.sent, gatheredPiece)
	if err == nil {
		err = x.hear(all, own)
	}
	if failure != nil || err != nil {
		return cmp.Or(failure, err)
	}
	x.heard[x.group.Rank()].bad = own.bad // with errors, and not their texts
	return nil
}

// hear is the error that another rank tells, or is: one that has come to another round, or has other data.
func (x *exchange) hear(all [][]byte, own *message) error {
	if x.heard == nil {
		x.heard = make([]message, len(all))
	}
	status := make([][]byte, len(all))
	for rank := range all {
		if err := x.heard[rank].read(all[rank]); err != nil {
			return fmt.Errorf("training: what rank %d tells of its scores: %w", rank, err)
		}
		status[rank] = x.heard[rank].status
	}
	if err := group.Heard(x.group, status); err != nil {
		return err
	}
	for rank := range all {
		if m := &x.heard[rank]; m.batches != own.batches || m.round != own.round {
			return fmt.Errorf("training: rank %d is at %d of a pass over %d batches, rank %d at %d of %d: they have other data",
				rank, m.round, m.batches, x.group.Rank(), own.round, own.batches)
		}
	}
	return nil
}
