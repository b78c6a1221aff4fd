package train

import (
	"cmp"
	"context"
	"math"

	"nmn/group"
	"nmn/loader"
)

// rounds show the batches of a set on every rank of a group, in their order. In each round every rank has scored one
// batch or has none left, and tells the others of it, of the bags that it has left out, and of an error: an error ends
// the rounds on all ranks, so that nobody waits for a rank that has left. After the last batch comes a round without
// any, which brings the errors that somebody met in the one before.
type rounds struct {
	exchange
	set     *loader.Set
	each    func(*loader.Batch, [][]float32) error
	config  loader.Config
	loader  *loader.Loader // of this rank; nil where there is an error instead
	batches int            // of all ranks

	round int  // the next one
	over  bool // all ranks know that this was the last
	shown int  // bags

	told    int                // bags that this rank has left out, and the others know
	waiting []loader.BadSample // of batches whose turn has not come
	bad     []loader.BadSample // of those whose turn was

	theirs shared
}

func newRounds(g group.Group, set *loader.Set, config loader.Config,
	each func(*loader.Batch, [][]float32) error) *rounds {
	return &rounds{exchange: exchange{group: g}, set: set, config: config, each: each}
}

// score scores the batches of this rank, and shows those of all.
func (r *rounds) score(ctx context.Context, config loader.Config,
	open opener) (bags int, bad []loader.BadSample, err error) {
	err = r.own(ctx, config, open)
	for !r.over {
		err = cmp.Or(err, ctx.Err())
		err = cmp.Or(err, r.meet(nil, nil, err))
	}
	return r.shown, r.bad, err
}

// own runs the pass over the batches of this rank.
func (r *rounds) own(ctx context.Context, config loader.Config, open opener) error {
	config.Share = loader.Share{Rank: r.group.Rank(), Ranks: r.group.Size(), Whole: true}
	config.MaxBadSamples = math.MaxInt32 // of all ranks together they are counted here
	s, err := open(ctx, config)
	if err != nil {
		return err
	}
	r.loader, r.batches = s.loader, s.loader.Batches()
	_, err = s.pass.run(ctx, s.epoch, r.show)
	return cmp.Or(err, s.close())
}

// show takes the scores of this rank's next batch. Batches before it may have had no bag that could be read.
func (r *rounds) show(batch *loader.Batch, values [][]float32) error {
	for r.round < batch.Number/r.group.Size() {
		if err := r.meet(nil, nil, nil); err != nil {
			return err
		}
	}
	return r.meet(batch, values, nil)
}

// meet is the next round, in which this rank has a batch, nothing, or an error.
func (r *rounds) meet(batch *loader.Batch, values [][]float32, failure error) error {
	own := message{round: r.round, batches: r.batches}
	if failure == nil {
		own.bad = r.loader.Bad(r.told)
		r.told += len(own.bad)
	}
	if batch != nil {
		own.bags, own.ids = batch.Index, batch.IDs
	}
	if err := r.exchange.tell(&own, values, failure); err != nil {
		r.over = true
		return err
	}
	return r.showAll(batch, values)
}

// showAll shows the batches of a round, in their order.
func (r *rounds) showAll(batch *loader.Batch, values [][]float32) error {
	first := r.round * len(r.heard)
	r.round++
	r.over = first >= r.batches
	for rank := range r.heard { // of batches that are over, or later
		r.waiting = append(r.waiting, r.heard[rank].bad...)
	}
	for rank := range r.heard {
		if err := r.leaveOut(first + rank); err != nil {
			return err
		}
		m := &r.heard[rank]
		if len(m.bags) == 0 {
			continue
		}
		r.shown += len(m.bags)
		shown, of := batch, values
		if rank != r.group.Rank() {
			shown, of = r.theirs.batch(first+rank, m), r.theirs.values(m)
		}
		if err := r.each(shown, of); err != nil {
			return err
		}
	}
	return nil
}

// leaveOut counts the bags of a batch that were left out.
func (r *rounds) leaveOut(batch int) error {
	later := r.waiting[:0]
	for _, b := range r.waiting {
		switch {
		case b.Bag/r.config.BatchBags > batch:
			later = append(later, b)
		case len(r.bad) <= r.config.MaxBadSamples:
			r.bad = append(r.bad, b)
		}
	}
	r.waiting = later
	if len(r.bad) > r.config.MaxBadSamples {
		return loader.TooManyBad(r.set, r.bad, r.config.MaxBadSamples)
	}
	return nil
}
