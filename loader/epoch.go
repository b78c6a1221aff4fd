package loader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"nmn/loader/augment"
	"nmn/loader/picture"
	"sync"
	"time"
)

// Epoch is one pass over the set. It is for one consumer: Next and Close are not to be called at
// the same time.
type Epoch struct {
	loader *Loader
	cancel context.CancelFunc
	parent context.Context
	ready  chan *Batch // planned batches in order, their frames being read
	group  sync.WaitGroup
	err    error // error that ended the epoch

	unsent  *Batch // planned when the epoch ended
	dropped *Batch // batch that was taken then, and not delivered
}

// frameRange is a piece of work: the frames [from, to) of a batch.
type frameRange struct {
	batch    *Batch
	from, to int
}

// worker is the memory of one goroutine that reads pictures.
type worker struct {
	ctx     context.Context
	reader  *apartReader // nil where the set has features
	resizer *picture.Resizer
	augment *augment.Worker // nil where pictures are not changed
}

// newWorker makes a worker that prepares pictures as configured. Close it.
func (l *Loader) newWorker(ctx context.Context) *worker {
	w := &worker{ctx: ctx, resizer: picture.NewResizer(l.level)}
	w.resizer.Filter = l.config.Resize
	if l.config.Augment.Pictures() {
		w.augment = augment.NewWorker(l.augment, l.config.Mean)
	}
	if l.set.Vectors == nil {
		w.reader = startReader(ctx, l.set.Source, picture.Picture{Level: l.level, MaxPixels: l.config.MaxPixels,
			Orientation: l.config.Orientation, Room: l.room})
	}
	return w
}

func (w *worker) close() {
	if w.reader != nil {
		w.reader.close()
	}
}

// Epoch starts an epoch at a batch, 0 for its beginning; a start at Batches() is at its end. Cancelling ctx
// stops the epoch's goroutines; one that is decoding finishes its picture in the background. Close the Epoch,
// or read it to its end.
func (l *Loader) Epoch(ctx context.Context, epoch, startBatch int) (*Epoch, error) {
	if epoch < 0 || startBatch < 0 || startBatch > l.Batches() {
		return nil, fmt.Errorf("loader: epoch %d from batch %d: an epoch of %q has batches 0 to %d",
			epoch, startBatch, l.set.Name, l.Batches()-1)
	}
	inner, cancel := context.WithCancel(ctx)
	// A batch counts against Prefetch from when it is planned until it is taken: Prefetch-1 wait in
	// the channel, one more in the hand of the planner.
	e := &Epoch{loader: l, cancel: cancel, parent: ctx, ready: make(chan *Batch, l.config.Prefetch-1)}
	work := make(chan frameRange)
	e.group.Go(func() { e.plan(inner, epoch, startBatch, work) })
	for range l.config.Workers {
		e.group.Go(func() { l.readFrames(inner, work) })
	}
	return e, nil
}

// Pass reads an epoch to its end and shows each batch, which each must not keep.
func (l *Loader) Pass(ctx context.Context, epoch int, each func(*Batch)) error {
	e, err := l.Epoch(ctx, epoch, 0)
	if err != nil {
		return err
	}
	defer e.Close()
	for {
		batch, err := e.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		each(batch)
		batch.Release()
	}
}

// plan hands out the batches of the epoch, in order.
func (e *Epoch) plan(ctx context.Context, epoch, startBatch int, work chan<- frameRange) {
	defer close(e.ready)
	defer close(work)
	l := e.loader
	order := l.Order(epoch)
	for number := startBatch; number < l.Batches(); number++ {
		if !l.config.Share.reads(number, l.Batches()) {
			continue
		}
		batch := l.batch()
		batch.begin(number, epoch, order.batchIn(batch.job.order, number))
		// Pieces are small enough that all workers share a batch, and large enough that handing them out is
		// cheap.
		frames := len(batch.job.frames)
		piece := max(1, frames/(4*l.config.Workers))
		for start := 0; start < frames; start += piece {
			select {
			case work <- frameRange{batch, start, min(start+piece, frames)}:
			case <-ctx.Done():
				e.unsent = batch
				return
			}
		}
		if frames == 0 {
			batch.job.done <- struct{}{}
		}
		select {
		case e.ready <- batch:
		case <-ctx.Done():
			e.unsent = batch
			return
		}
	}
}

func (l *Loader) readFrames(ctx context.Context, work <-chan frameRange) {
	w := l.newWorker(ctx)
	defer w.close()
	for {
		select {
		case job, ok := <-work:
			if !ok {
				return
			}
			for i := job.from; i < job.to; i++ {
				if ctx.Err() != nil {
					return
				}
				job.batch.read(w, i)
			}
		case <-ctx.Done():
			return
		}
	}
}

// Next waits for the next batch and returns it; io.EOF after the last. With a Share of bags it also returns
// batches without a bag of this rank. After any error the epoch is over and its goroutines have ended, except
// those that are decoding a picture. The error comes from ctx, from the epoch's own context, from too many
// bad samples, or from a failure that does not concern a single picture.
func (e *Epoch) Next(ctx context.Context) (*Batch, error) {
	for e.err == nil {
		batch, err := e.take(ctx)
		if err == nil {
			err = batch.finish(e.loader.leaveOut)
		}
		if err != nil {
			e.dropped = batch
			e.stop(err)
			break
		}
		if batch.N > 0 || e.loader.config.Share.parts() {
			return batch, nil
		}
		batch.Release()
	}
	return nil, e.err
}

// take waits until the next batch has all its frames. With an error comes the batch that was waited for, nil for
// none.
func (e *Epoch) take(ctx context.Context) (*Batch, error) {
	started := time.Now()
	defer func() { e.loader.waited.Add(int64(time.Since(started))) }()
	var batch *Batch
	var ok bool
	select {
	case batch, ok = <-e.ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-e.parent.Done():
		return nil, e.parent.Err()
	}
	if !ok {
		if err := e.parent.Err(); err != nil {
			return nil, err
		}
		return nil, io.EOF
	}
	select {
	case <-batch.job.done:
		return batch, nil
	case <-ctx.Done():
		return batch, ctx.Err()
	case <-e.parent.Done():
		return batch, e.parent.Err()
	}
}

// Close ends the epoch early and waits for its goroutines, less those that are inside a picture. It may be called more
// than once.
func (e *Epoch) Close() { e.stop(errors.New("loader: the epoch is closed")) }

// stop waits for the goroutines, and keeps the memory of batches that were not handed out.
func (e *Epoch) stop(err error) {
	e.cancel()
	e.group.Wait()
	for batch := range e.ready {
		batch.Release()
	}
	for _, batch := range []*Batch{e.unsent, e.dropped} {
		if batch != nil {
			batch.Release()
		}
	}
	e.unsent, e.dropped = nil, nil
	if e.err == nil {
		e.err = err
	}
}
