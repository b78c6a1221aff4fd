package train

import (
	"context"
	"io"
	"time"

	"nmn/loader"
)

// fetch waits for the batches of a step: none at the end of the epoch. Those that stageNext has fetched
// are there.
func (t *Trainer) fetch(ctx context.Context) error {
	if t.Config.Overfit && len(t.held) > 0 {
		return nil
	}
	if t.next.fetched {
		t.held, t.next.batches = t.next.batches, t.held
		t.next.fetched = false
		return t.next.err
	}
	var err error
	t.held, err = t.read(ctx, t.held)
	return err
}

// read appends the batches of a step to list. After an error it has released them.
func (t *Trainer) read(ctx context.Context, list []*loader.Batch) ([]*loader.Batch, error) {
	if t.epoch == nil {
		epoch, batch := t.at.Epoch, t.at.Batch
		if t.Config.Overfit {
			epoch, batch = 1, 0
		}
		var err error
		if t.epoch, err = t.loader.Epoch(ctx, epoch, batch); err != nil {
			return list, err
		}
	}
	for len(list) < t.Config.Accumulate {
		batch, err := t.epoch.Next(ctx)
		t.reportBad()
		if err == io.EOF {
			break
		}
		if err != nil {
			return release(list), err
		}
		list = append(list, batch)
	}
	return list, nil
}

// ahead is the batch read for the next step while a graphics card works on this one.
type ahead struct {
	batches []*loader.Batch
	err     error // error that ended the reading; it belongs to the next step
	fetched bool
}

// stageNext begins to upload the next batch: batch i of this step or the first batch of the next step. It
// does nothing if the device cannot upload while it computes.
func (t *Trainer) stageNext(ctx context.Context, i int, e *StepDone) error {
	if !t.feed.ahead() {
		return nil
	}
	t.section("stage the next batch")
	if i < len(t.held) {
		return t.stage(t.held[i])
	}
	if e.Step >= e.Steps || t.Config.Overfit || t.held[i-1].Number+1 >= t.loader.Batches() {
		return nil // no step follows, or none in this epoch, or one of the same batches
	}
	began := time.Now()
	t.next.batches, t.next.err = t.read(ctx, t.next.batches)
	t.next.fetched = true
	e.DataWait += time.Since(began)
	if t.next.err != nil || len(t.next.batches) == 0 {
		return nil
	}
	return t.stage(t.next.batches[0])
}

// stage begins to upload a batch, unless all of its bags belong to other ranks.
func (t *Trainer) stage(batch *loader.Batch) error {
	if batch.N == 0 {
		return nil
	}
	return t.feed.stage(batch)
}

// advance moves the position past a step and gives its batches back.
func (t *Trainer) advance(e *StepDone) {
	t.at.Step = e.Step
	t.at.Bags, t.at.Images = t.at.Bags+e.Bags, t.at.Images+e.Images
	t.at.LossSum += e.Loss * float64(e.Bags)
	t.at.Loss = e.Loss
	if t.Config.Overfit {
		t.at.Batch = min(t.at.Batch+t.Config.Accumulate, t.loader.Batches())
		return
	}
	t.at.Batch = t.held[len(t.held)-1].Number + 1
	t.held = release(t.held)
}

// release gives batches back and empties their list.
func release(list []*loader.Batch) []*loader.Batch {
	for _, b := range list {
		b.Release()
	}
	clear(list)
	return list[:0]
}

// reportBad reports bags that were left out since it was last asked.
func (t *Trainer) reportBad() {
	if t.ranks.many { // with several ranks the meeting reports the bad bags of all ranks
		return
	}
	count := t.loader.Stats().BadSamples
	if count > t.bad {
		observers(t.Observers).Bad(BadSamples{New: t.loader.Bad(t.bad), Count: count + t.unscored})
		t.bad = count
	}
}
