package captioner

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"nmn/captioner/s2vt"
	"nmn/internal/rng"
	"nmn/kernels/tensor"
	"nmn/train"
)

// step makes one update. It allocates nothing once it has seen the shapes of its batches, except for the order
// at the begin of an epoch.
func (t *Trainer) step() error {
	began := time.Now()
	if t.ordered != t.at.Epoch {
		t.order, t.ordered = newOrder(t.pairs, t.Config.Batch, t.Config.Seed, t.at.Epoch), t.at.Epoch
	}
	t.samples = t.order.at(t.at.Batch)
	if err := t.fetch(t.samples); err != nil {
		return err
	}
	e := StepDone{
		Progress: train.Progress{Epoch: t.at.Epoch, Step: t.at.Step + 1, Steps: t.steps,
			DataWait: time.Since(began), LearningRate: t.schedule.At(t.at.Step + 1)},
		Captions: len(t.samples),
	}
	for _, sample := range t.samples {
		e.Words += len(t.pairs[sample].words) + 1
	}
	if err := t.trainBatch(&e); err != nil {
		return err
	}
	t.at.Batch++
	t.at.Step++
	t.at.Captions += e.Captions
	t.at.Words += e.Words
	t.at.LossSum += e.Loss * float64(e.Captions)
	e.Duration, e.DeviceBytes = time.Since(began), t.DeviceBytes()
	e.Log = e.Due(t.Config.LogSteps)
	observers(t.Observers).Step(e)
	return nil
}

// fetch reads the features of samples and puts the batch together.
func (t *Trainer) fetch(samples []int) error {
	b := &t.batch
	b.Features, b.Captions, b.Samples = b.Features[:0], b.Captions[:0], b.Samples[:0]
	for i, sample := range samples {
		p := t.pairs[sample]
		if err := t.Data.Features(p.clip, t.buffers[i]); err != nil {
			return fmt.Errorf("captioning: features of clip %q: %w", t.Data.ID(p.clip), err)
		}
		b.Features = append(b.Features, t.buffers[i][:t.Data.FrameCount(p.clip)*t.Data.Width()])
		b.Captions, b.Samples = append(b.Captions, p.words), append(b.Samples, sample)
	}
	return nil
}

// maxGraphs is the number of recorded graphs that are kept. Captions of a set have about this many lengths.
const maxGraphs = 32

// work is a piece of work of a step that comes again: the gradients of a shape of batch with their norm or, where
// there is no batch, the update by gradients of that norm.
type work struct {
	batch s2vt.Work
	norm  *tensor.Tensor
}

// String implements fmt.Stringer.
func (w work) String() string {
	if w.norm != nil {
		return "update"
	}
	return w.batch.String()
}

// trainBatch changes the parameters by the gradients of the batch, unless loss or gradient is not finite. It waits
// once, for the losses and the norm of the gradients.
func (t *Trainer) trainBatch(e *StepDone) (err error) {
	usual, err := t.optimizer.Begin(e.LearningRate, 1)
	if err != nil {
		return t.failed(e, err)
	}
	p := &t.passes
	if p.batch, err = t.Net.Place(&t.batch, t.dropoutSeed()); err == nil {
		err = t.do(usual, work{batch: p.batch}, p.gradients)
	}
	if err != nil {
		return t.failed(e, err)
	}
	if e.Loss, e.GradNorm, err = t.Net.Wait(t.passes.batch); err != nil {
		return t.failed(e, err)
	}
	if broken := t.optimizer.NonFinite(&e.Progress); broken != nil {
		broken.IDs = t.clips()
		return broken
	}
	if err := t.do(usual, work{norm: t.passes.batch.Norm()}, t.passes.update); err != nil {
		return t.failed(e, err)
	}
	if err := t.optimizer.End(); err != nil {
		return t.failed(e, err)
	}
	return nil
}

// passes are the pieces of work of a step as values, made once: a closure for each call would allocate.
type passes struct {
	batch             s2vt.Work // at hand
	gradients, update func() error
}

// do runs work, as a recorded graph if possible.
func (t *Trainer) do(usual bool, w work, run func() error) error {
	if !usual {
		return run()
	}
	return t.replays.Do(w, run)
}

func (t *Trainer) enqueueGradients() error {
	if err := t.Net.Enqueue(t.passes.batch); err != nil {
		return err
	}
	return t.optimizer.Measure(t.passes.batch.Norm())
}

func (t *Trainer) enqueueUpdate() error { return t.optimizer.Update(t.passes.batch.Norm()) }

// failed adds to an error the step and the clips that it came from, of many clips the first ones.
func (t *Trainer) failed(e *StepDone, err error) error {
	const shown = 8
	clips := t.clips()
	return fmt.Errorf("captioning: step %d (epoch %d), %d clips, the first %q: %w",
		e.Step, e.Epoch, len(clips), clips[:min(shown, len(clips))], err)
}

// clips returns the clips of the step.
func (t *Trainer) clips() (ids []string) {
	for _, sample := range t.samples {
		ids = append(ids, t.Data.ID(t.pairs[sample].clip))
	}
	return ids
}

// pair is a clip with one of its captions.
type pair struct {
	clip  int
	words []int32
}

// pairsOf lists the pairs of a source, clip by clip. The place of a pair is its sample number.
func pairsOf(s Source) []pair {
	var all []pair
	for clip := range s.Clips() {
		for _, words := range s.Captions(clip) {
			all = append(all, pair{clip, words})
		}
	}
	return all
}

// window is the number of batches whose captions are sorted by length.
const window = 32

// order cuts the pairs of an epoch into batches. It depends on seed and epoch alone. A step lasts as long as
// the longest caption of its batch. The pairs are shuffled and sorted by length within a window of batches,
// and then the batches are shuffled. Each pair comes once.
type order struct {
	pairs   []int // by place
	batch   int
	batches rng.Permutation
}

// newOrder draws the order of an epoch, counted from 1.
func newOrder(all []pair, batch int, seed uint64, epoch int) order {
	seed = rng.Derive(seed, "captioning/order")
	o := order{pairs: make([]int, len(all)), batch: batch}
	o.batches = rng.NewPermutation(seed, o.count(), epoch, 1)
	places := rng.NewPermutation(seed, len(all), epoch, 0)
	for i := range o.pairs {
		o.pairs[i] = places.At(i)
	}
	for part := range slices.Chunk(o.pairs, window*batch) {
		slices.SortStableFunc(part, func(a, b int) int { return cmp.Compare(len(all[a].words), len(all[b].words)) })
	}
	return o
}

// count is the number of batches.
func (o order) count() int { return (len(o.pairs) + o.batch - 1) / o.batch }

// at are the pairs of a batch.
func (o order) at(batch int) []int {
	from := o.batches.At(batch) * o.batch
	return o.pairs[from:min(from+o.batch, len(o.pairs))]
}
