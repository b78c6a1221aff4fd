package captioner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"nmn/captioner/s2vt"
	"nmn/internal/rng"
	"nmn/kernels"
	"nmn/train"
)

// Trainer teaches a net to caption the clips of a source. It serves one goroutine.
type Trainer struct {
	Options
	optimizer *train.Optimizer
	schedule  train.Schedule
	data      DataID
	pairs     []pair
	steps     int

	at      Position
	keeper  train.CheckpointStore[Checkpoint]
	order   order // of the epoch
	ordered int   // which epoch that is, 0 for none

	replays *kernels.GraphCache[work]
	passes  passes

	batch   s2vt.Batch
	samples []int       // of the step
	buffers [][]float32 // features of each place of a batch
	started time.Time   // of this process's part of the epoch
}

// New prepares training from its beginning. Close gives the optimizer's memory back.
func New(o Options) (*Trainer, error) {
	if err := o.Config.Validate(); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	t := &Trainer{Options: o, data: identify(o.Data), pairs: pairsOf(o.Data), at: Position{Epoch: 1},
		keeper: train.NewCheckpointStore(frame, train.CheckpointStoreOptions{Directory: o.Directory, Count: 1,
			Minutes: o.Config.CheckpointMinutes, Clock: o.Clock})}
	t.steps = t.Config.Steps(t.Batches())
	t.schedule = train.NewSchedule(t.Config.LearningRateConfig, t.steps)
	if o.Directory != "" {
		if err := train.PrepareDirectory(o.Directory); err != nil {
			return nil, err
		}
	}
	err := o.Net.Learn()
	if err == nil {
		err = o.Net.Reserve(t.largest())
	}
	if err == nil {
		t.optimizer, err = train.NewOptimizer(o.Net.Backend(), o.Net.Params(), nil, o.Config.optimizer())
	}
	if err != nil {
		return nil, err
	}
	t.replays = kernels.NewGraphCache[work](o.Net.Backend(), maxGraphs)
	t.passes.gradients, t.passes.update = t.enqueueGradients, t.enqueueUpdate
	t.makeBatch()
	return t, nil
}

// largest is as large as no batch exceeds.
func (t *Trainer) largest() s2vt.Size {
	said := make([]int, len(t.pairs))
	size := s2vt.Size{Clips: min(t.Config.Batch, len(t.pairs))}
	for i, p := range t.pairs {
		said[i] = len(p.words) + 1
		size.Words = max(size.Words, len(p.words))
		size.Frames = max(size.Frames, t.Data.FrameCount(p.clip))
	}
	slices.Sort(said)
	for _, words := range said[len(said)-size.Clips:] {
		size.Said += words
	}
	return size
}

// makeBatch makes room for the features of a batch.
func (t *Trainer) makeBatch() {
	count := min(t.Config.Batch, len(t.pairs))
	t.buffers = make([][]float32, count)
	for i := range t.buffers {
		t.buffers[i] = make([]float32, t.Data.Frames()*t.Data.Width())
	}
	t.batch = s2vt.Batch{
		Features: make([][]float32, 0, count),
		Captions: make([][]int32, 0, count),
		Samples:  make([]int, 0, count),
	}
}

// Batches is the number of steps of an epoch.
func (t *Trainer) Batches() int { return (len(t.pairs) + t.Config.Batch - 1) / t.Config.Batch }

// Steps is the number of updates of the whole training, if patience does not end it.
func (t *Trainer) Steps() int { return t.steps }

// Position is the progress of training.
func (t *Trainer) Position() Position { return t.at }

// DeviceBytes is the device memory of net and optimizer.
func (t *Trainer) DeviceBytes() int { return t.Net.Bytes() + t.optimizer.Bytes() }

// Close gives graphs and the memory of the optimizer back; the net stays.
func (t *Trainer) Close() error {
	return errors.Join(t.replays.Close(), t.optimizer.Close())
}

// Run trains to the end. When ctx ends, Run finishes the current step, saves last.safetensors and returns an
// error that wraps train.ErrInterrupted. A loss or gradient that is not finite ends it with a
// *train.NonFiniteError; parameters and checkpoints are then as before that step. best.safetensors has the
// best net by validation. The net in memory is the net after the last step.
func (t *Trainer) Run(ctx context.Context) error {
	return train.SaveInterrupted(ctx, t.run(ctx), t.at.Epoch, t.at.Step, t.steps, t.save)
}

func (t *Trainer) run(ctx context.Context) error {
	t.started = time.Now()
	for !t.Config.limits().Reached(t.at.Epoch, t.at.Step, t.at.Stale) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if t.at.Batch >= t.Batches() {
			if err := t.endEpoch(ctx); err != nil {
				return err
			}
			continue
		}
		if err := t.step(); err != nil {
			return err
		}
		if every := t.Config.CheckpointSteps; every > 0 && t.at.Step%every == 0 || t.keeper.Due() {
			if err := t.trySave(); err != nil {
				return err
			}
		}
	}
	return t.end(ctx)
}

// endEpoch validates, notifies the observers, moves to the next epoch and saves, in this order: a
// checkpoint that is saved before the move resumes at the end of this epoch.
func (t *Trainer) endEpoch(ctx context.Context) error {
	if every := t.Config.ValidateEpochs; every > 0 && t.at.Epoch%every == 0 {
		if err := t.validate(ctx); err != nil {
			return err
		}
	}
	t.reportEpoch()
	t.at = Position{Epoch: t.at.Epoch + 1, Step: t.at.Step, Validated: t.at.Validated, Stale: t.at.Stale}
	t.started = time.Now()
	return t.trySave()
}

// end validates what has changed since the last validation, and saves.
func (t *Trainer) end(ctx context.Context) error {
	if t.Config.ValidateEpochs > 0 {
		if err := t.validate(ctx); err != nil {
			return err
		}
	}
	if t.at.Batch > 0 && !t.keeper.Saved(t.at) {
		t.reportEpoch()
	}
	return t.save()
}

func (t *Trainer) reportEpoch() {
	captions, words := float64(max(t.at.Captions, 1)), float64(max(t.at.Words, 1))
	observers(t.Observers).Epoch(EpochDone{
		Epoch:    t.at.Epoch,
		Step:     t.at.Step,
		Loss:     t.at.LossSum / captions,
		WordLoss: t.at.LossSum / words,
		Captions: t.at.Captions,
		Words:    t.at.Words,
		Duration: time.Since(t.started),
	})
}

// validate scores the net as it is, once for each step.
func (t *Trainer) validate(ctx context.Context) error {
	if t.Options.Validate == nil || t.at.Validated == t.at.Step {
		return nil
	}
	began := time.Now()
	scores, err := t.Options.Validate(ctx, t.Net)
	if err != nil {
		return fmt.Errorf("captioning: validation after step %d (epoch %d): %w", t.at.Step, t.at.Epoch, err)
	}
	cider := scores.CIDErD
	if math.IsNaN(cider) || math.IsInf(cider, 0) {
		return fmt.Errorf("captioning: validation after step %d (epoch %d) gave %v", t.at.Step, t.at.Epoch, cider)
	}
	t.at.Validated, t.at.Stale = t.at.Step, t.at.Stale+1
	better := t.keeper.Offer(train.Best{Step: t.at.Step, Epoch: t.at.Epoch, Value: cider})
	if better {
		t.at.Stale = 0
	}
	observers(t.Observers).Evaluated(Evaluated{Epoch: t.at.Epoch, Step: t.at.Step, Scores: scores,
		Best: better, Stale: t.at.Stale, Duration: time.Since(began)})
	return nil
}

// dropoutSeed changes with the epoch, and the masks within it with the samples.
func (t *Trainer) dropoutSeed() uint64 {
	return rng.Derive(t.Config.Seed, "captioning/dropout") + uint64(t.at.Epoch)
}
