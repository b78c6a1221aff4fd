package train

import (
	"cmp"
	"context"
	"errors"

	"nmn/internal/rng"
	"nmn/kernels"
	"nmn/loader"
	"nmn/model"
)

// maxGraphs is the number of recorded pieces of work to keep. The least recently used one is dropped first.
const maxGraphs = 16

// updater makes the updates of a net. It owns what they need on the net's device in addition to the net.
type updater struct {
	*Options
	ranks     *rankState
	schedule  Schedule
	optimizer *Optimizer
	results   *results
	feed      *feed
	graphs    *kernels.GraphCache[work]
	sums      gradientSums
	profiler  kernels.Card // nil for none

	bags    int  // of the step, of all ranks
	direct  bool // recorded work is left aside for this step
	work    work // at hand
	options model.StepOptions
	// Pieces of work as values, made once: a closure for each call would allocate.
	gradients, measure, change func() error
	layerDone                  func(layer int) error
}

// newUpdater allocates all of it, for batches of at most this number of bags.
func newUpdater(o *Options, r *rankState, bags int) (_ *updater, err error) {
	backend := o.Net.Backend()
	u := &updater{Options: o, ranks: r, graphs: kernels.NewGraphCache[work](backend, maxGraphs)}
	u.profiler, _ = backend.(kernels.Card)
	u.gradients, u.layerDone = u.enqueueGradients, u.sums.layerDone
	u.measure = func() error { return u.optimizer.Measure(u.results.norm) }
	u.change = func() error { return u.optimizer.Update(u.results.norm) }
	if u.optimizer, err = optimizerOf(o.Net, o.Config); err != nil {
		return nil, err
	}
	if u.results, err = newResults(backend, o.Config.Accumulate, bags); err == nil {
		u.feed, err = newFeed(backend)
	}
	if err == nil && r.many {
		err = u.sums.open(r.group, o.Net, o.Wire)
	}
	if err != nil {
		return nil, errors.Join(err, u.close())
	}
	return u, nil
}

func (u *updater) close() error {
	errs := []error{u.graphs.Close(), u.sums.close()}
	if u.feed != nil {
		errs = append(errs, u.feed.close())
	}
	if u.results != nil {
		errs = append(errs, u.results.close())
	}
	return errors.Join(append(errs, u.optimizer.Close())...)
}

// section names the following work for a profiler.
func (u *updater) section(name string) {
	if u.profiler != nil {
		u.profiler.Section(name)
	}
}

// do enqueues a piece of work, which run enqueues call by call.
func (u *updater) do(w work, run func() error) error {
	if u.direct {
		return run()
	}
	return u.graphs.Do(w, run)
}

// update is the numeric part of a step. It allocates nothing once it has seen the shapes of its batches, and waits
// once, for the losses and the norm of the gradients: a graphics card works on gradients while the next batch is
// uploaded, and on the update while the next step begins (the order of both streams: docs/background/cuda-kernels.md).
func (u *updater) update(ctx context.Context, b *batchReader, e *StepDone) error {
	defer u.section("")
	for i, batch := range b.held {
		of := rankBatch{batch.N, batch.T}
		if u.ranks.many {
			of = u.ranks.counts[i]
		}
		e.Bags, e.Images = e.Bags+of.bags, e.Images+of.frames
	}
	if err := u.begin(e); err != nil {
		return err
	}
	last := lastRead(b.held)
	for i, batch := range b.held {
		if batch.N > 0 {
			if err := u.take(batch, i == last, e); err != nil {
				return err
			}
			u.section("gradients")
			var err error
			switch {
			case u.ranks.many && i == last:
				err = u.gradientsTogether()
			case u.graphs.Records():
				err = u.do(u.work, u.gradients)
			default:
				err = u.enqueueGradients()
			}
			if err == nil {
				err = u.results.keep(u.work.plan)
			}
			if err != nil {
				return err
			}
		}
		if u.feed.ahead() {
			u.section("stage the next batch")
			if err := b.stage(ctx, i+1, e); err != nil {
				return err
			}
		}
	}
	if u.ranks.many {
		if err := u.sumGradients(last < 0); err != nil {
			return err
		}
	}
	return u.finish(b.held, e)
}

// begin prepares a step of e.Bags bags.
func (u *updater) begin(e *StepDone) error {
	u.sums.begun, u.bags = 0, e.Bags
	u.results.begin()
	e.LearningRate = u.schedule.At(e.Step)
	usual, err := u.optimizer.Begin(e.LearningRate, e.Bags)
	u.direct = !usual
	return err
}

// take makes a batch the input of the net, and its gradients the work at hand. They are added to the gradients of the
// earlier batches of the step.
func (u *updater) take(batch *loader.Batch, last bool, e *StepDone) error {
	plan, err := u.Net.Plan(batch.T, batch.N, true)
	if err != nil {
		return err
	}
	u.section("take the batch")
	if err := u.feed.take(plan, batch); err != nil {
		return err
	}
	w := work{plan: plan, accumulate: len(u.results.bags) > 0, last: last, weighted: batch.Weights != nil}
	if u.ranks.many {
		w.all = u.bags
	}
	return u.prepare(w, e)
}

// prepare makes work on the gradients of a plan the one at hand.
func (u *updater) prepare(w work, e *StepDone) error {
	u.work = w
	u.options = model.StepOptions{
		Scale:        u.optimizer.scale(cmp.Or(w.all, w.plan.Bags)),
		DropoutSeed:  u.dropoutSeed(e),
		Accumulate:   w.accumulate,
		WithoutNoise: u.Loader.Targets != nil || u.Loader.Evidence != nil,
		Evidence:     u.Loader.Evidence != nil,
		Weighted:     w.weighted,
		Asymmetric:   u.Config.Loss.asymmetric(),
		LargeLosses:  u.Config.Loss.largeLosses(e.Epoch, w.plan.Labels.Len()),
	}
	return u.Net.Prepare(u.options)
}

// enqueueGradients goes from the pixels of a batch to its gradients, and after the last batch to their norm. The lower
// part of the gradients, of several ranks, follows the upper one.
func (u *updater) enqueueGradients() error {
	if u.options.Part != model.LowerPart {
		if err := u.Net.Normalize(u.work.plan); err != nil {
			return err
		}
	}
	if err := u.Net.Step(u.work.plan, u.options); err != nil || !u.work.last || u.ranks.many {
		return err
	}
	return u.measure()
}

// finish waits for the gradients and changes the parameters by them, unless loss or gradient is not finite.
func (u *updater) finish(batches []*loader.Batch, e *StepDone) error {
	u.section("wait")
	own, norm, err := u.results.wait()
	if err != nil {
		return err
	}
	sum := own
	if u.ranks.many {
		if sum, err = u.ranks.sumUp(own, e); err != nil {
			return err
		}
	}
	e.Loss, e.GradNorm = sum/float64(e.Bags), norm
	if broken := u.optimizer.NonFinite(&e.Progress); broken != nil {
		broken.IDs, err = u.ranks.brokenIDs(batches, !finite(own))
		return errors.Join(broken, err)
	}
	u.section("update")
	if err := u.do(work{}, u.change); err != nil {
		return err
	}
	return u.optimizer.End()
}

// dropoutPurpose keeps the masks of the stages apart.
var dropoutPurpose = [...]string{"train/dropout/stage1", "train/dropout/stage2"}

// dropoutSeed changes with the epoch. Within an epoch the masks change with the keys of the batch. A batch
// that comes at every step gets another mask each time.
func (u *updater) dropoutSeed(e *StepDone) uint64 {
	seed := rng.Derive(u.Config.Seed, dropoutPurpose[u.Stage-1])
	if u.Config.Overfit {
		return seed + uint64(e.Step-1)
	}
	return seed + uint64(e.Epoch)
}
