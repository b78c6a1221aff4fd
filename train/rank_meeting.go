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

// fetchTogether waits for the batches of a step, on all ranks. It returns none at the end of the epoch. Like
// a single process, it skips batches without any readable bag.
func (t *Trainer) fetchTogether(ctx context.Context) error {
	for {
		err := t.fetch(ctx)
		if err == nil {
			err = ctx.Err()
		}
		if err := t.meet(ctx, err); err != nil {
			return err
		}
		if t.keepReadable() {
			return nil
		}
	}
}

// keepReadable releases the batches without a readable bag on any rank, and reports whether there was none.
func (t *Trainer) keepReadable() bool {
	r, kept := &t.ranks, 0
	for i, batch := range t.held {
		if r.counts[i].bags == 0 {
			batch.Release()
			continue
		}
		t.held[kept], r.counts[kept] = batch, r.counts[i]
		kept++
	}
	all := kept == len(t.held)
	clear(t.held[kept:])
	t.held, r.counts = t.held[:kept], r.counts[:kept]
	return all
}

// meet sends the other ranks what this one has read or its failure, and receives theirs. An error of any rank
// is an error on all.
func (t *Trainer) meet(ctx context.Context, failure error) error {
	r := &t.ranks
	r.tell(t, ctx, failure)
	began := time.Now()
	all, err := r.group.Gather(r.told)
	r.waited(began)
	if err != nil {
		return errors.Join(failure, err)
	}
	return r.hear(t, all, failure)
}

// This rank's message for a meeting.
func (r *rankState) tell(t *Trainer, ctx context.Context, failure error) {
	status := goesOn
	switch {
	case failure != nil && ctx.Err() != nil && errors.Is(failure, ctx.Err()):
		status = interruptedHere
	case failure != nil:
		status = failedHere
	case r.writes() && t.at.Step > 0 && t.keeper.Due():
		status = wantsToSave
	}
	number := func(n int) { r.told = binary.LittleEndian.AppendUint64(r.told, uint64(n)) }
	text := func(s string) {
		s = s[:min(len(s), longestTold)]
		number(len(s))
		r.told = append(r.told, s...)
	}
	r.told = append(r.told[:0], status)
	if status == failedHere {
		text(failure.Error())
		return
	}
	number(t.at.Step)
	number(len(t.held))
	for _, batch := range t.held {
		number(batch.Number)
		number(batch.N)
		number(batch.T)
	}
	bad := t.loader.Bad(r.badTold)
	r.badTold += len(bad)
	number(len(bad))
	for _, b := range bad {
		number(b.Bag)
		text(b.ID)
		text(b.Err.Error())
	}
}

// All ranks' messages are read. failure is this rank's own.
func (r *rankState) hear(t *Trainer, all [][]byte, failure error) error {
	r.counts, r.save = r.counts[:0], false
	for range t.held {
		r.counts = append(r.counts, rankBatch{})
	}
	var err error
	news := len(r.bad)
	for rank, told := range all {
		if len(told) == 0 {
			return r.confused(rank)
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
		if failure == nil && !r.take(t, &h) {
			err = cmp.Or(err, r.confused(rank))
		}
	}
	if len(r.bad) > news {
		t.bad = len(r.bad)
		observers(t.Observers).Bad(BadSamples{New: r.bad[news:], Count: t.bad + t.unscored})
	}
	if failure != nil || err != nil {
		return cmp.Or(failure, err)
	}
	if len(r.bad) > t.Loader.MaxBadSamples {
		return loader.TooManyBad(t.Data, r.bad, t.Loader.MaxBadSamples)
	}
	return nil
}

// take adds the batches of one rank's message to the sums of the others. It reports whether that rank is at
// the same step with the same batches.
func (r *rankState) take(t *Trainer, h *heardRank) bool {
	if h.number() != t.at.Step || h.number() != len(t.held) {
		return false
	}
	for i, batch := range t.held {
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
