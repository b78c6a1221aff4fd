package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"nmn/kernels/tensor"
	"nmn/loader"
	"nmn/model"
	"nmn/rng"

	dense "gorgonia.org/tensor"
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
	const shown = 8
	ids := e.IDs[:min(shown, len(e.IDs))]
	rest := ""
	if more := len(e.IDs) - len(ids); more > 0 {
		rest = fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("training: step %d (epoch %d), learning rate %.3g: loss %g, gradient norm %g: %v; nothing was changed by this step. "+
		"Lower the learning rate, add warm-up or clip the norm, or look at bags %s%s",
		e.Step, e.Epoch, e.LearningRate, e.Loss, e.GradientNorm, ErrNonFinite, strings.Join(ids, ", "), rest)
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
	if err := t.learn(t.held, &e); err != nil {
		return err
	}
	t.advance(&e)
	e.Duration = time.Since(began)
	e.Log = e.Step%t.Config.LogSteps == 0 || e.Step == 1 || e.Step == e.Steps
	t.dataWait += e.DataWait
	observers(t.Observers).step(e)
	return nil
}

// fetch waits for the batches of a step: none at the end of the epoch.
func (t *Trainer) fetch(ctx context.Context) error {
	if t.Config.Overfit && len(t.held) > 0 {
		return nil
	}
	if t.epoch == nil {
		epoch, batch := t.at.Epoch, t.at.Batch
		if t.Config.Overfit {
			epoch, batch = 1, 0
		}
		var err error
		if t.epoch, err = t.loader.Epoch(ctx, epoch, batch); err != nil {
			return err
		}
	}
	for len(t.held) < t.Config.Accumulate {
		batch, err := t.epoch.Next(ctx)
		t.tellBad()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.release()
			return err
		}
		t.held = append(t.held, batch)
	}
	return nil
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
	t.release()
}

// learn is the numeric part of a step. It allocates nothing once it has seen the shapes of its
// batches.
func (t *Trainer) learn(batches []*loader.Batch, e *StepDone) error {
	sum := 0.0
	for i, batch := range batches {
		plan, err := t.feed(batch)
		if err != nil {
			return fmt.Errorf("training: step %d: %w", e.Step, err)
		}
		loss, err := t.gradients(plan, i > 0)
		if err != nil {
			return fmt.Errorf("training: step %d: %w", e.Step, err)
		}
		sum, e.Bags, e.Images = sum+loss, e.Bags+batch.N, e.Images+batch.T
	}
	e.Loss = sum / float64(e.Bags)
	err := t.update(e)
	if broken, ok := err.(*NonFiniteError); ok { // errors.As would allocate
		broken.name(batches)
	}
	return err
}

// feed uploads a batch and makes it the input of the net.
func (t *Trainer) feed(batch *loader.Batch) (*model.Plan, error) {
	plan, err := t.Net.Plan(batch.T, batch.N, true)
	if err != nil {
		return nil, err
	}
	if err := upload(t.Net, plan, batch, true); err != nil {
		return nil, err
	}
	return plan, t.Net.Normalize(plan)
}

// gradients goes forward and backward through the net and returns the loss, summed over the bags.
func (t *Trainer) gradients(plan *model.Plan, accumulate bool) (float64, error) {
	options := model.StepOptions{Scale: t.optimizer.scale(plan.Bags), DropoutSeed: t.dropoutSeed(), Accumulate: accumulate}
	if err := t.Net.Step(plan, options); err != nil {
		return 0, err
	}
	return t.loss(plan)
}

// update changes the parameters by the gradients of e.Bags bags, unless loss or gradient is not finite.
func (t *Trainer) update(e *StepDone) error {
	var err error
	e.LearningRate = t.schedule.At(e.Step)
	if e.GradNorm, err = t.optimizer.prepare(e.LearningRate, e.Bags); err != nil {
		return fmt.Errorf("training: step %d: %w", e.Step, err)
	}
	if !finite(e.Loss) || !finite(e.GradNorm) {
		return &NonFiniteError{Epoch: e.Epoch, Step: e.Step, LearningRate: e.LearningRate, Loss: e.Loss, GradientNorm: e.GradNorm}
	}
	if err := t.optimizer.update(); err != nil {
		return fmt.Errorf("training: step %d: %w", e.Step, err)
	}
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

// loss waits for the step and sums the losses of its bags, in order.
func (t *Trainer) loss(plan *model.Plan) (float64, error) {
	host, ok := t.losses[plan.Bags]
	if !ok {
		host = model.Host(plan.Bags)
		t.losses[plan.Bags] = host
	}
	if err := t.Net.Backend().Download(host, plan.Loss); err != nil {
		return 0, err
	}
	sum := 0.0
	for _, v := range host.Float32s() {
		sum += float64(v)
	}
	return sum, nil
}

// upload copies a batch to the device. Without training there are no flips, keys or labels to copy.
func upload(net *model.Net, p *model.Plan, b *loader.Batch, training bool) error {
	device := net.Backend()
	for _, pair := range [...]struct {
		dst      *tensor.Tensor
		src      *dense.Dense
		training bool
	}{
		{p.Pixels, b.Pixels, false}, {p.Sizes, b.Sizes, false}, {p.Flips, b.Flips, false}, {p.Offsets, b.Offsets, false},
		{p.Keys, b.Keys, true}, {p.Labels, b.Labels, true},
	} {
		if pair.training && !training {
			continue
		}
		if err := device.Upload(pair.dst, pair.src); err != nil {
			return err
		}
	}
	return nil
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
