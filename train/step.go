package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"nmn/loader"
	"nmn/model"
	"nmn/rng"
)

// Errors that a caller may act on.
var (
	// ErrInterrupted tells that the context ended and the stage can be resumed.
	ErrInterrupted = errors.New("training was interrupted")
	// ErrNonFinite tells that loss or gradient became infinite or NaN.
	ErrNonFinite = errors.New("loss or gradient is not finite")
)

// NonFiniteError is the end of a stage that diverged, or met broken input. It wraps ErrNonFinite.
type NonFiniteError struct {
	Epoch, Step        int // of the update that was not made
	LearningRate       float64
	Loss, GradientNorm float64
	IDs                []string // bags of the step
}

// Error names the step, the learning rate and the first bags.
func (e *NonFiniteError) Error() string {
	return fmt.Sprintf("training: step %d (epoch %d), learning rate %.3g: loss %g, gradient norm %g: %v; nothing was changed by this step. "+
		"Lower the learning rate, add warm-up or clip the norm, or look at bags %s",
		e.Step, e.Epoch, e.LearningRate, e.Loss, e.GradientNorm, ErrNonFinite, listed(e.IDs))
}

// listed names the first bags of a step.
func listed(ids []string) string {
	const shown = 8
	text := strings.Join(ids[:min(shown, len(ids))], ", ")
	if more := len(ids) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Unwrap gives ErrNonFinite.
func (e *NonFiniteError) Unwrap() error { return ErrNonFinite }

// step makes one update. An epoch whose last bags are all broken may end without one.
func (t *Trainer) step(ctx context.Context) error {
	began := time.Now()
	if err := t.fetch(ctx); err != nil {
		return err
	}
	if len(t.held) == 0 {
		t.at.Batch = t.loader.Batches()
		return nil
	}
	e := StepDone{Epoch: t.at.Epoch, Step: t.at.Step + 1, Steps: t.steps, DataWait: time.Since(began), DeviceBytes: t.DeviceBytes()}
	if err := t.learn(ctx, t.held, &e); err != nil {
		return t.failed(&e, err)
	}
	t.advance(&e)
	e.Duration = time.Since(began)
	e.Log = e.Step%t.Config.LogSteps == 0 || e.Step == 1 || e.Step == e.Steps
	t.dataWait += e.DataWait
	observers(t.Observers).step(e)
	return nil
}

// failed tells at which step and bags an error came; a NonFiniteError tells it by itself.
func (t *Trainer) failed(e *StepDone, err error) error {
	if broken := (*NonFiniteError)(nil); errors.As(err, &broken) {
		return err
	}
	var named NonFiniteError
	named.name(t.held)
	return fmt.Errorf("training: step %d (epoch %d), bags %s: %w", e.Step, e.Epoch, listed(named.IDs), err)
}

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
		t.tellBad()
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

// ahead is what was read for the next step while a graphics card works on this one.
type ahead struct {
	batches []*loader.Batch
	err     error // that reading ended with; it is of the next step
	fetched bool
}

// stageNext begins to upload the batch that comes next, batch i of this step or the first one of the next,
// where the device can do so while it computes.
func (t *Trainer) stageNext(ctx context.Context, i int, e *StepDone) error {
	if !t.feed.ahead() {
		return nil
	}
	t.section("stage the next batch")
	if i < len(t.held) {
		return t.feed.stage(t.held[i])
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
	return t.feed.stage(t.next.batches[0])
}

// advance moves the position behind a step and gives its batches back.
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

// learn is the numeric part of a step. It allocates nothing once it has seen the shapes of its
// batches, and waits once, for the losses and the norm of the gradients: a graphics card works on
// gradients while the next batch is uploaded, and on the update while the next step begins.
func (t *Trainer) learn(ctx context.Context, batches []*loader.Batch, e *StepDone) error {
	defer t.section("")
	if err := t.begin(batches, e); err != nil {
		return err
	}
	for i, batch := range batches {
		if err := t.gradients(batch, i, i == len(batches)-1); err != nil {
			return err
		}
		if err := t.stageNext(ctx, i+1, e); err != nil {
			return err
		}
	}
	err := t.finish(e)
	if broken, ok := err.(*NonFiniteError); ok { // errors.As would allocate
		broken.name(batches)
	}
	return err
}

// begin sets what does not change within a step.
func (t *Trainer) begin(batches []*loader.Batch, e *StepDone) error {
	for _, batch := range batches {
		e.Bags, e.Images = e.Bags+batch.N, e.Images+batch.T
	}
	t.results.begin()
	return t.setRate(e)
}

// setRate prepares the update of a step of e.Bags bags.
func (t *Trainer) setRate(e *StepDone) error {
	e.LearningRate = t.schedule.At(e.Step)
	err := t.optimizer.begin(e.LearningRate, e.Bags)
	t.replays.direct = t.optimizer.resting()
	return err
}

// gradients feeds batch i of a step to the net and adds its gradients to those of the batches before.
func (t *Trainer) gradients(batch *loader.Batch, i int, last bool) error {
	plan, err := t.Net.Plan(batch.T, batch.N, true)
	if err != nil {
		return err
	}
	t.section("take the batch")
	if err := t.feed.take(plan, batch); err != nil {
		return err
	}
	return t.pass(work{plan, i > 0, last}, t.passes.whole)
}

// pass computes the gradients of a plan by enqueue, one of passes, and sets its losses aside.
func (t *Trainer) pass(w work, enqueue func() error) error {
	t.passes.work = w
	t.passes.options = model.StepOptions{Scale: t.optimizer.scale(w.plan.Bags), DropoutSeed: t.dropoutSeed(), Accumulate: w.accumulate}
	if err := t.Net.Prepare(t.passes.options); err != nil {
		return err
	}
	t.section("gradients")
	if err := t.replays.do(w, enqueue); err != nil {
		return err
	}
	return t.results.keep(w.plan)
}

// passes are the pieces of work of a step as values, made once: a closure for each call would allocate.
type passes struct {
	work    work // at hand
	options model.StepOptions

	whole, update func() error
}

// enqueueWhole goes from the pixels of a batch to its gradients, and behind the last batch to their norm.
func (t *Trainer) enqueueWhole() error {
	p := &t.passes
	if err := t.Net.Normalize(p.work.plan); err != nil {
		return err
	}
	return t.enqueueStep()
}

// enqueueStep goes forward and backward through the net from a plan's normalised input.
func (t *Trainer) enqueueStep() error {
	p := &t.passes
	if err := t.Net.Step(p.work.plan, p.options); err != nil || !p.work.last {
		return err
	}
	return t.optimizer.measure(t.results.norm)
}

func (t *Trainer) enqueueUpdate() error { return t.optimizer.update(t.results.norm) }

// finish waits for the gradients and changes the parameters by them, unless loss or gradient is not
// finite.
func (t *Trainer) finish(e *StepDone) error {
	t.section("wait")
	sum, norm, err := t.results.wait()
	if err != nil {
		return err
	}
	e.Loss, e.GradNorm = sum/float64(e.Bags), norm
	if !finite(e.Loss) || !finite(e.GradNorm) {
		return &NonFiniteError{Epoch: e.Epoch, Step: e.Step, LearningRate: e.LearningRate, Loss: e.Loss, GradientNorm: e.GradNorm}
	}
	t.section("update")
	if err := t.replays.do(work{}, t.passes.update); err != nil {
		return err
	}
	t.optimizer.updates++
	return nil
}

// dropoutPurpose keeps the masks of the stages apart.
var dropoutPurpose = [...]string{"train/dropout/stage1", "train/dropout/stage2"}

// dropoutSeed changes with the epoch, and the masks within it with the keys of the batch; a batch
// that comes at every step gets another mask each time.
func (t *Trainer) dropoutSeed() uint64 {
	seed := rng.Derive(t.Config.Seed, dropoutPurpose[t.Stage-1])
	if t.Config.Overfit {
		return seed + uint64(t.at.Step)
	}
	return seed + uint64(t.at.Epoch)
}

// tellBad reports bags that were left out since it was last asked.
func (t *Trainer) tellBad() {
	count := t.loader.Stats().BadSamples
	if count > t.bad {
		observers(t.Observers).bad(BadSamples{New: t.loader.Bad(t.bad), Count: count + t.unscored})
		t.bad = count
	}
}

// name adds the bags that the step saw.
func (e *NonFiniteError) name(batches []*loader.Batch) {
	for _, b := range batches {
		e.IDs = append(e.IDs, b.IDs...)
	}
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
