package train

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"nmn/loader"
	"nmn/ranks"
)

// Before each step the ranks meet. Each sends the number of bags it has of each batch, the bags it could not
// read, and whether it was interrupted or failed. Rank 0 also sends whether a checkpoint is due. So all ranks
// end at the same step, save at the same step, and divide by the same number of bags.

// rankBatch is how many bags and frames the ranks have of a batch together.
type rankBatch struct{ bags, frames int }

// States that a rank sends at a meeting.
const (
	goesOn byte = iota
	wantsToSave
	interruptedHere
	failedHere
)

// longestTold limits the text of an error sent to other ranks.
const longestTold = 4096

// dropUnreadable releases the batches of a step without a readable bag on any rank, and returns how many there were.
func (r *rankState) dropUnreadable(b *batchReader) (dropped int) {
	kept := 0
	for i, batch := range b.held {
		if r.counts[i].bags == 0 {
			batch.Release()
			continue
		}
		b.held[kept], r.counts[kept] = batch, r.counts[i]
		kept++
	}
	dropped = len(b.held) - kept
	clear(b.held[kept:])
	b.held, r.counts = b.held[:kept], r.counts[:kept]
	return dropped
}

// meet sends the other ranks what this one has read for the step after the given one, or its failure, and receives
// theirs. An error of any rank is an error on all. due asks for a checkpoint, on rank 0. meet returns the bags that any
// rank could not read since the last meeting.
func (r *rankState) meet(ctx context.Context, b *batchReader, step int, due bool, failure error) (
	[]loader.BadSample, error) {
	status := goesOn
	switch {
	case failure != nil && ctx.Err() != nil && errors.Is(failure, ctx.Err()):
		status = interruptedHere
	case failure != nil:
		status = failedHere
	case r.group.Rank() == 0 && due:
		status = wantsToSave
	}
	r.told = append(r.told[:0], status)
	if status == failedHere {
		r.putText(failure.Error())
	} else {
		r.putRead(b, step)
	}
	began := time.Now()
	all, err := r.group.Gather(r.told)
	r.waited(began)
	if err != nil {
		return nil, errors.Join(failure, err)
	}
	return r.receive(b, step, all, failure)
}

// put and putText append to this rank's message.
func (r *rankState) put(n int) { r.told = binary.LittleEndian.AppendUint64(r.told, uint64(n)) }

func (r *rankState) putText(s string) {
	s = s[:min(len(s), longestTold)]
	r.put(len(s))
	r.told = append(r.told, s...)
}

// putRead appends what this rank has read.
func (r *rankState) putRead(b *batchReader, step int) {
	r.put(step)
	r.put(len(b.held))
	for _, batch := range b.held {
		r.put(batch.Number)
		r.put(batch.N)
		r.put(batch.T)
	}
	bad := b.Bad(r.badTold)
	r.badTold += len(bad)
	r.put(len(bad))
	for _, b := range bad {
		r.put(b.Bag)
		r.putText(b.ID)
		r.putText(b.Err.Error())
	}
}

// receive reads all ranks' messages. failure is this rank's own.
func (r *rankState) receive(b *batchReader, step int, all [][]byte, failure error) ([]loader.BadSample, error) {
	r.counts, r.save = r.counts[:0], false
	for range b.held {
		r.counts = append(r.counts, rankBatch{})
	}
	var err error
	known := len(r.bad)
	for rank, told := range all {
		if len(told) == 0 {
			return nil, r.confused(rank)
		}
		h := heardRank{rest: told[1:]}
		switch {
		case told[0] == failedHere:
			err = cmp.Or(err, r.lost(rank, errors.New(h.text())))
			continue
		case told[0] == interruptedHere:
			err = cmp.Or(err, r.lost(rank, context.Canceled))
		case told[0] == wantsToSave:
			r.save = true
		}
		if failure == nil && !r.take(b.held, step, &h) {
			err = cmp.Or(err, r.confused(rank))
		}
	}
	return r.bad[known:], cmp.Or(failure, err)
}

// take adds the batches of one rank's message to the sums of the others. It reports whether that rank is at
// the same step with the same batches.
func (r *rankState) take(held []*loader.Batch, step int, h *heardRank) bool {
	if h.number() != step || h.number() != len(held) {
		return false
	}
	for i, batch := range held {
		if h.number() != batch.Number {
			return false
		}
		r.counts[i].bags += h.number()
		r.counts[i].frames += h.number()
	}
	for left := h.number(); left > 0 && !h.cut; left-- {
		bag, id, text := h.number(), h.text(), h.text()
		if h.cut || r.isBad[bag] {
			continue
		}
		if r.isBad == nil {
			r.isBad = map[int]bool{}
		}
		r.isBad[bag] = true
		r.bad = append(r.bad, loader.BadSample{Bag: bag, ID: id, Err: badThere(text)})
	}
	return !h.cut
}

// badThere is the error text of a picture that another rank could not read.
type badThere string

func (e badThere) Error() string { return string(e) }
func (e badThere) Unwrap() error { return loader.ErrCorrupt }

func (r *rankState) lost(rank int, cause error) error {
	return &ranks.LostError{Rank: rank, Name: r.group.Names()[rank], Cause: cause}
}

func (r *rankState) confused(rank int) error {
	return fmt.Errorf("training: rank %d (%s) is at another step or has other batches than the ranks before it: all "+
		"ranks need the same data and settings", rank, r.group.Names()[rank])
}
