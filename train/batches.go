package train

import (
	"context"
	"io"
	"time"

	"nmn/loader"
)

// batchReader reads the batches of the steps. While a graphics card works on a step, it also reads the batches of the
// next one.
type batchReader struct {
	*loader.Loader
	feed    *feed
	perStep int
	overfit bool // every step takes the batches of the first one
	// reportBad is called after each batch, to report the bags that could not be read.
	reportBad func()

	epoch *loader.Epoch   // nil if none is being read
	held  []*loader.Batch // of the step
	next  []*loader.Batch // of the next step
	ahead bool            // next has been read
	err   error           // that ended the reading of next; it belongs to the next step
}

// fetch waits for the batches of a step at a position: none at the end of the epoch. They are there if they were read
// ahead.
func (b *batchReader) fetch(ctx context.Context, at Position) (err error) {
	if b.overfit && len(b.held) > 0 {
		return nil
	}
	if b.ahead {
		b.held, b.next, b.ahead = b.next, b.held, false
		return b.err
	}
	if b.epoch == nil {
		epoch, batch := at.Epoch, at.Batch
		if b.overfit {
			epoch, batch = 1, 0
		}
		if b.epoch, err = b.Epoch(ctx, epoch, batch); err != nil {
			return err
		}
	}
	b.held, err = b.read(ctx, b.held)
	return err
}

// read appends the batches of a step to list. After an error it has released them.
func (b *batchReader) read(ctx context.Context, list []*loader.Batch) ([]*loader.Batch, error) {
	for len(list) < b.perStep {
		batch, err := b.epoch.Next(ctx)
		b.reportBad()
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

// stage begins to upload batch i of a step or, after the last one, the first batch of the next step.
func (b *batchReader) stage(ctx context.Context, i int, e *StepDone) error {
	batches := b.held[i:]
	if len(batches) == 0 {
		if e.Step >= e.Steps || b.overfit || b.held[i-1].Number+1 >= b.Batches() {
			return nil // no step follows, or none in this epoch, or one of the same batches
		}
		began := time.Now()
		b.next, b.err = b.read(ctx, b.next)
		b.ahead = true
		e.DataWait += time.Since(began)
		batches = b.next
	}
	if len(batches) == 0 || batches[0].N == 0 { // the epoch has ended, or all bags belong to other ranks
		return nil
	}
	return b.feed.stage(batches[0])
}

// used gives the batches of a step back, and returns the batch of the epoch that follows them. batch is the first one.
func (b *batchReader) used(batch int) int {
	if b.overfit {
		return min(batch+b.perStep, b.Batches())
	}
	batch = b.held[len(b.held)-1].Number + 1
	b.held = release(b.held)
	return batch
}

// leave ends the epoch and gives its batches back.
func (b *batchReader) leave() {
	if b.epoch != nil {
		b.epoch.Close()
		b.epoch = nil
	}
	_ = b.feed.drop() // if this fails, the device is lost, and its next operation reports that
	b.next, b.ahead = release(b.next), false
	if !b.overfit {
		b.held = release(b.held)
	}
}

// release gives batches back and empties their list.
func release(list []*loader.Batch) []*loader.Batch {
	for _, b := range list {
		b.Release()
	}
	clear(list)
	return list[:0]
}
