package train

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nmn/loader"
)

// step makes one update. An epoch whose last bags are all broken may end without one.
func (t *Trainer) step(ctx context.Context) error {
	began := time.Now()
	t.ranks.wait = 0
	if err := t.fetch(ctx); err != nil {
		return err
	}
	batches := t.batches.held
	if len(batches) == 0 {
		t.at.Batch = t.batches.Batches()
		return nil
	}
	e := StepDone{Progress: Progress{
		Epoch:       t.at.Epoch,
		Step:        t.at.Step + 1,
		Steps:       t.steps,
		DataWait:    time.Since(began) - t.ranks.wait,
		DeviceBytes: t.DeviceBytes(),
	}}
	if t.ranks.save {
		saving := time.Now()
		if err := t.trySave(); err != nil {
			return err
		}
		began = began.Add(time.Since(saving)) // which is no part of the step
	}
	if err := t.online.add(batches, t.at); err != nil {
		return err
	}
	if err := t.updater.update(ctx, &t.batches, &e); err != nil {
		if broken := (*NonFiniteError)(nil); errors.As(err, &broken) { // which names step and bags
			return err
		}
		return fmt.Errorf("training: step %d (epoch %d), %v %s: %w", e.Step, e.Epoch, t.Data.Noun(),
			listed(idsOf(batches)), err)
	}
	t.at.after(&e, t.batches.used(t.at.Batch))
	e.Duration = time.Since(began)
	e.Log = e.Due(t.Config.LogSteps)
	t.dataWait += e.DataWait
	observers(t.Observers).Step(e)
	return nil
}

// fetch waits for the batches of a step, on all ranks: none at the end of the epoch. Several ranks skip batches without
// any readable bag, as the reader of a single process does.
func (t *Trainer) fetch(ctx context.Context) error {
	for {
		err := t.batches.fetch(ctx, t.at)
		if !t.ranks.many {
			return err
		}
		if err == nil {
			err = ctx.Err()
		}
		if err := t.meet(ctx, err); err != nil {
			return err
		}
		if t.ranks.dropUnreadable(&t.batches) == 0 {
			return nil
		}
	}
}

// meet has the ranks meet before a step, and reports the bags that any of them could not read.
func (t *Trainer) meet(ctx context.Context, failure error) error {
	r := t.ranks
	bad, err := r.meet(ctx, &t.batches, t.at.Step, t.at.Step > 0 && t.keeper.Due(), failure)
	if len(bad) > 0 {
		t.bad = len(r.bad)
		observers(t.Observers).Bad(BadSamples{New: bad, Count: t.bad + t.unscored})
	}
	if err == nil && len(r.bad) > t.Loader.MaxBadSamples {
		err = loader.TooManyBad(t.Data, r.bad, t.Loader.MaxBadSamples)
	}
	return err
}

// after moves a position past a step. batch is the batch of the epoch that follows.
func (p *Position) after(e *StepDone, batch int) {
	p.Step, p.Batch = e.Step, batch
	p.Bags, p.Images = p.Bags+e.Bags, p.Images+e.Images
	p.LossSum += e.Loss * float64(e.Bags)
	p.Loss = e.Loss
}

// reportBad reports bags that were left out since it was last called. With several ranks, the meeting reports the bags
// of all ranks.
func (t *Trainer) reportBad() {
	if t.ranks.many {
		return
	}
	count := t.batches.Stats().BadSamples
	if count > t.bad {
		observers(t.Observers).Bad(BadSamples{New: t.batches.Bad(t.bad), Count: count + t.unscored})
		t.bad = count
	}
}
