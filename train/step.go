package train

import (
	"cmp"
	"context"
	"time"

	"nmn/internal/rng"
	"nmn/loader"
	"nmn/model"
)

// step makes one update. An epoch whose last bags are all broken may end without one.
func (t *Trainer) step(ctx context.Context) error {
	began := time.Now()
	t.ranks.wait = 0
	if err := t.fetchBatches(ctx); err != nil {
		return err
	}
	if len(t.held) == 0 {
		t.at.Batch = t.loader.Batches()
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
	if err := t.scoreOnline(); err != nil {
		return err
	}
	if err := t.trainBatch(ctx, t.held, &e); err != nil {
		return t.failed(&e, err)
	}
	t.advance(&e)
	e.Duration = time.Since(began)
	e.Log = e.Due(t.Config.LogSteps)
	t.dataWait += e.DataWait
	observers(t.Observers).Step(e)
	return nil
}

// fetchBatches waits for the batches of a step: none at the end of the epoch.
func (t *Trainer) fetchBatches(ctx context.Context) error {
	if t.ranks.many {
		return t.fetchTogether(ctx)
	}
	return t.fetch(ctx)
}

// trainBatch is the numeric part of a step. It allocates nothing once it has seen the shapes of its
// batches, and waits once, for the losses and the norm of the gradients: a graphics card works on
// gradients while the next batch is uploaded, and on the update while the next step begins (the order of
// both streams: docs/background/cuda-kernels.md).
func (t *Trainer) trainBatch(ctx context.Context, batches []*loader.Batch, e *StepDone) error {
	defer t.section("")
	if err := t.begin(batches, e); err != nil {
		return err
	}
	last := lastRead(batches)
	for i, batch := range batches {
		if batch.N > 0 {
			if err := t.gradients(batch, i == last); err != nil {
				return err
			}
		}
		if err := t.stageNext(ctx, i+1, e); err != nil {
			return err
		}
	}
	if err := t.reduce(last < 0); err != nil {
		return err
	}
	err := t.finish(e)
	if broken, ok := err.(*NonFiniteError); ok && !t.ranks.many { // errors.As would allocate
		broken.IDs = idsOf(batches)
	}
	return err
}

// begin sets the values that do not change within a step.
func (t *Trainer) begin(batches []*loader.Batch, e *StepDone) error {
	for i, batch := range batches {
		of := rankBatch{batch.N, batch.T}
		if t.ranks.many {
			of = t.ranks.counts[i]
		}
		e.Bags, e.Images = e.Bags+of.bags, e.Images+of.frames
	}
	t.ranks.begun, t.bags = 0, e.Bags
	t.results.begin()
	return t.setRate(e)
}

// setRate prepares the update of a step of e.Bags bags.
func (t *Trainer) setRate(e *StepDone) error {
	e.LearningRate = t.schedule.At(e.Step)
	usual, err := t.optimizer.Begin(e.LearningRate, e.Bags)
	t.replays.direct = !usual
	return err
}

// gradients feeds a batch of a step to the net and adds its gradients to the gradients of the earlier
// batches.
func (t *Trainer) gradients(batch *loader.Batch, last bool) error {
	plan, err := t.Net.Plan(batch.T, batch.N, true)
	if err != nil {
		return err
	}
	t.section("take the batch")
	if err := t.feed.take(plan, batch); err != nil {
		return err
	}
	w := work{plan: plan, accumulate: len(t.results.bags) > 0, last: last}
	if t.ranks.many {
		w.all = t.bags
	}
	if err := t.prepareWork(w); err != nil {
		return err
	}
	t.section("gradients")
	switch {
	case t.ranks.many && w.last:
		err = t.gradientsTogether(w)
	case t.replays.records():
		err = t.replays.do(w, t.passes.gradients)
	default:
		err = t.enqueueGradients()
	}
	if err != nil {
		return err
	}
	return t.results.keep(plan)
}

// prepareWork makes work on the gradients of a plan the one at hand.
func (t *Trainer) prepareWork(w work) error {
	t.passes.work = w
	t.passes.options = model.StepOptions{
		Scale:        t.optimizer.scale(cmp.Or(w.all, w.plan.Bags)),
		DropoutSeed:  t.dropoutSeed(),
		Accumulate:   w.accumulate,
		WithoutNoise: t.Loader.Targets != nil || t.Loader.Evidence != nil,
		Evidence:     t.Loader.Evidence != nil,
		Asymmetric:   t.Config.Loss.asymmetric(),
		LargeLosses:  t.Config.Loss.largeLosses(t.at.Epoch, w.plan.Labels.Len()),
	}
	return t.Net.Prepare(t.passes.options)
}

// passes are the pieces of work of a step as values, made once: a closure for each call would allocate.
type passes struct {
	work    work // at hand
	options model.StepOptions

	gradients, lower, measure, update func() error
	// begins the sums of the gradients that a layer completes
	done func(layer int) error
}

// enqueueGradients goes from the pixels of a batch to its gradients, and after the last batch to their norm.
func (t *Trainer) enqueueGradients() error {
	p := &t.passes
	if err := t.Net.Normalize(p.work.plan); err != nil {
		return err
	}
	if err := t.Net.Step(p.work.plan, p.options); err != nil || !p.work.last || t.ranks.many {
		return err
	}
	return t.enqueueMeasure()
}

// enqueueLower is the part of enqueueGradients that goes backward through the blocks of convolutions.
func (t *Trainer) enqueueLower() error { return t.Net.Step(t.passes.work.plan, t.passes.options) }

func (t *Trainer) enqueueMeasure() error { return t.optimizer.Measure(t.results.norm) }

func (t *Trainer) enqueueUpdate() error { return t.optimizer.Update(t.results.norm) }

// finish waits for the gradients and changes the parameters by them, unless loss or gradient is not
// finite.
func (t *Trainer) finish(e *StepDone) error {
	t.section("wait")
	own, norm, err := t.results.wait()
	if err != nil {
		return err
	}
	sum, err := t.sumUp(own, e)
	if err != nil {
		return err
	}
	e.Loss, e.GradNorm = sum/float64(e.Bags), norm
	if broken := t.optimizer.NonFinite(&e.Progress); broken != nil {
		if t.ranks.many {
			broken.IDs, err = t.idsTogether(!finite(own))
		}
		return joined(broken, err)
	}
	t.section("update")
	if err := t.replays.do(work{}, t.passes.update); err != nil {
		return err
	}
	return t.optimizer.End()
}

// dropoutPurpose keeps the masks of the stages apart.
var dropoutPurpose = [...]string{"train/dropout/stage1", "train/dropout/stage2"}

// dropoutSeed changes with the epoch. Within an epoch the masks change with the keys of the batch. A batch
// that comes at every step gets another mask each time.
func (t *Trainer) dropoutSeed() uint64 {
	seed := rng.Derive(t.Config.Seed, dropoutPurpose[t.Stage-1])
	if t.Config.Overfit {
		return seed + uint64(t.at.Step)
	}
	return seed + uint64(t.at.Epoch)
}
