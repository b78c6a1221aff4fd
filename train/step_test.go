package train

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/loader"
	"nmn/loader/picture"
	"nmn/model"
)

func TestStep_AllocatesNothingOnceShapesAreKnown(t *testing.T) {
	for name, change := range map[string]func(*rig){
		"mil, fd, adam": func(r *rig) { r.mil, r.noise, r.dropout = true, model.FeatureDependent, .3 },
		"chunks": func(r *rig) {
			r.mil, r.noise, r.dropout, r.config.ChunkFrames = true, model.FeatureDependent, .3, 3
		},
		"adamw, averages": func(r *rig) { r.config.Optimizer, r.config.EMA = AdamW, .99 },
		"accumulation, clipping, sgd": func(r *rig) {
			r.config = sgd(r.config)
			r.config.Accumulate = 2
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig()
			change(&r)
			r.observers = []Observer{{Step: func(StepDone) {}}}
			trainer := r.trainer(t)
			check(t, trainer.fetch(t.Context()))
			trainer.batches.epoch.Close() // its workers allocate too
			step := func() {
				e := StepDone{Progress: Progress{Step: 1}}
				expect.OK(t, trainer.updater.update(t.Context(), &trainer.batches, &e))
				observers(trainer.Observers).Step(e)
			}
			step()
			allocatesNothing(t, step)
		})
	}
}

func TestStep_AccumulatedBatchesEqualOneLargeBatch(t *testing.T) {
	var nets [2]*model.Net
	for i, accumulate := range []int{1, 5} {
		r := newRig()
		r.config = sgd(r.config)
		r.dropout, r.config.Flip, r.config.MaxSteps = .3, true, 3
		r.config.Accumulate, r.config.BatchSize = accumulate, 20/accumulate
		trainer := r.trainer(t)
		if result := run(t, trainer); result.Step != 3 {
			t.Fatalf("%d steps, want 3", result.Step)
		}
		nets[i] = trainer.Net
	}
	one, many := weights(t, nets[0]), weights(t, nets[1])
	for name, want := range one {
		for i, w := range want {
			if got := many[name][i]; !(math.Abs(float64(got-w)) <= 2e-6) {
				t.Fatalf("%s[%d]: %g accumulated, %g in one batch", name, i, got, w)
			}
		}
	}
}

// Chunks change the order of sums, not the result of learning.
func TestStep_ChunksLearnWhatWholeBatchesDo(t *testing.T) {
	var nets [2]*model.Net
	for i, chunk := range []int{0, 5} {
		r := newRig()
		r.source = func(s loader.Source) loader.Source { return films{s} }
		r.mil, r.noise, r.dropout, r.config = true, model.FeatureDependent, .3, sgd(r.config)
		r.config.ChunkFrames = chunk
		trainer := r.trainer(t)
		run(t, trainer)
		nets[i] = trainer.Net
	}
	whole, chunks := weights(t, nets[0]), weights(t, nets[1])
	for name, want := range whole {
		for i, w := range want {
			if got := chunks[name][i]; !(math.Abs(float64(got-w)) <= 1e-5) {
				t.Fatalf("%s[%d]: %g in chunks, %g in whole batches", name, i, got, w)
			}
		}
	}
}

func TestRun_LearnsAndCountsSteps(t *testing.T) {
	r := newRig()
	r.config.Stage1Epochs, r.config.LearningRate = 6, 1e-2
	var losses []float64
	var epochs []EpochDone
	r.observers = []Observer{record(&losses), {Epoch: func(e EpochDone) { epochs = append(epochs, e) }}}
	trainer := r.trainer(t)
	result := run(t, trainer)
	if want := 6 * 5; len(losses) != want || result.Step != want || trainer.Steps() != want {
		t.Fatalf("%d losses, result at %d, %d steps foretold, want %d", len(losses), result.Step, trainer.Steps(), want)
	}
	if len(epochs) != 6 || epochs[5].Epoch != 6 || epochs[5].Bags != 40 || epochs[5].Images != 40 {
		t.Errorf("epochs %+v", epochs)
	}
	if mean := mean(losses[:5]); math.Abs(epochs[0].Loss-mean) > 1e-9 {
		t.Errorf("loss of epoch 1 is %v, mean of its steps %v", epochs[0].Loss, mean)
	}
	if first, last := epochs[0].Loss, epochs[5].Loss; !(last < .95*first) {
		t.Errorf("loss went from %v to %v", first, last)
	}
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func TestRun_OverfitsOneBatchOfTheFirstEpoch(t *testing.T) {
	r := newRig()
	r.config.Overfit, r.config.MaxSteps, r.config.Stage1Epochs, r.config.LearningRate = true, 150, 0, 5e-3
	var losses []float64
	r.observers = []Observer{record(&losses)}
	run(t, r.trainer(t))
	if len(losses) != 150 || !(losses[149] < .35*losses[0]) {
		t.Errorf("%d steps on one batch, loss from %v to %v", len(losses), losses[0], losses[len(losses)-1])
	}
}

// diverged runs a rig until a step after which one weight becomes infinite, as by a fault of memory. It returns the
// weights of that time, and how the run ended.
func diverged(t *testing.T, r rig, after int) (trainer *Trainer, before map[string][]float32, err error) {
	t.Helper()
	r.observers = []Observer{{Step: func(e StepDone) {
		if e.Step != after {
			return
		}
		p := named(trainer.Net, "head.fc8.bias")
		values, err := trainer.Net.Values(p)
		check(t, err)
		values[1] = float32(math.Inf(1))
		check(t, trainer.Net.SetValues(p, values))
		before = weights(t, trainer.Net)
	}}}
	trainer = r.trainer(t)
	_, err = trainer.Run(t.Context())
	return trainer, before, err
}

func TestRun_NonFiniteLossStopsWithStepRateAndBagsAndKeepsWhatWasGood(t *testing.T) {
	r := newRig()
	r.directory = t.TempDir()
	r.config.CheckpointSteps = 2
	trainer, before, err := diverged(t, r, 3)
	var broken *NonFiniteError
	if !errors.As(err, &broken) || !errors.Is(err, ErrNonFinite) {
		t.Fatalf("error %v", err)
	}
	if broken.Step != 4 || broken.Epoch != 1 || broken.LearningRate != r.config.LearningRate || len(broken.IDs) != 8 {
		t.Errorf("error %+v", broken)
	}
	if text := err.Error(); !strings.Contains(text, "step 4") || !strings.Contains(text, "0.001") ||
		!strings.Contains(text, broken.IDs[0]) {
		t.Errorf("message %q", text)
	}
	sameWeights(t, weights(t, trainer.Net), before, "the step changed parameters")
	c, err := ReadCheckpoint(filepath.Join(r.directory, LastName))
	if err != nil || c.Position.Step != 2 {
		t.Errorf("last checkpoint at %+v, %v", c, err)
	}
	fresh := newRig().trainer(t)
	check(t, fresh.Resume(filepath.Join(r.directory, LastName)))
}

// holes is a source with unreadable bags.
type holes struct {
	loader.Source
	bad map[int]bool
}

func (h holes) Read(ctx context.Context, bag, frame int, p *picture.Picture) error {
	if h.bad[bag] {
		return errors.Join(loader.ErrCorrupt, os.ErrInvalid)
	}
	return h.Source.Read(ctx, bag, frame, p)
}

func TestRun_BadSamplesAreLeftOutAndReported(t *testing.T) {
	r := newRig()
	var reported []BadSamples
	r.observers = []Observer{{Bad: func(e BadSamples) { reported = append(reported, e) }}}
	o := r.options(t)
	o.Data.Source, o.Loader.MaxBadSamples = holes{o.Data.Source, map[int]bool{3: true, 17: true}}, 2
	var bags int
	o.Observers = append(o.Observers, Observer{Epoch: func(e EpochDone) { bags = e.Bags }})
	run(t, newTrainer(t, o))
	if bags != 38 || len(reported) == 0 || reported[len(reported)-1].Count != 2 {
		t.Errorf("%d bags in an epoch, reported %+v", bags, reported)
	}
	named := map[string]bool{}
	for _, e := range reported {
		for _, bad := range e.New {
			named[bad.ID] = bad.Err != nil
		}
	}
	if len(named) != 2 || !named[o.Data.IDs[3]] || !named[o.Data.IDs[17]] {
		t.Errorf("bad samples are reported as %v", named)
	}
	scores, err := Score(t.Context(), o.Net, o.Data, o.loaderConfig())
	if err != nil || len(scores.Index) != 38 || scores.Logits.Shape()[0] != 38 || slices.Contains(scores.Index, 17) {
		t.Errorf("scores %+v, %v", scores, err)
	}
	if len(scores.Bad) != 2 || scores.Bad[0].ID != o.Data.IDs[3] || scores.Bad[1].Err == nil {
		t.Errorf("left out %+v, want the two bad samples", scores.Bad)
	}
	o.Loader.MaxBadSamples = 100
	o.Data.Source = holes{o.Data.Source, everyBag(o.Data.Len())}
	expect.Refusal(t, expect.ErrorOf(Score(t.Context(), o.Net, o.Data, o.loaderConfig())), "", os.ErrInvalid)
}

func TestRun_BadSamplesOfTheValidationAreReportedOnce(t *testing.T) {
	r := newRig()
	reported := map[string]int{}
	r.observers = []Observer{{Bad: func(e BadSamples) {
		for _, bad := range e.New {
			reported[bad.ID]++
		}
	}}}
	o := r.options(t)
	whole := *o.Data
	whole.Source, o.Loader.MaxBadSamples = holes{whole.Source, map[int]bool{5: true}}, 1
	o.Validation, o.Config.EvaluateEpochs = &whole, 1
	run(t, newTrainer(t, o))
	if len(reported) != 1 || reported[whole.IDs[5]] != 1 {
		t.Errorf("reported %v, want %s once", reported, whole.IDs[5])
	}
}

func everyBag(n int) map[int]bool {
	all := map[int]bool{}
	for i := range n {
		all[i] = true
	}
	return all
}

func TestRun_NothingReadableIsAnErrorNotAnEndlessLoop(t *testing.T) {
	r := newRig()
	r.config.Stage1Epochs, r.config.MaxSteps = 0, 5
	o := r.options(t)
	o.Data.Source, o.Loader.MaxBadSamples = holes{o.Data.Source, everyBag(o.Data.Len())}, 1000
	expect.Refusal(t, expect.ErrorOf(newTrainer(t, o).Run(t.Context())), "40 cannot be read")
}

func TestRun_CancelledBeforeItStartsSavesNothingNew(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := newRig()
	r.directory = t.TempDir()
	result, err := r.trainer(t).Run(ctx)
	if !errors.Is(err, ErrInterrupted) || result.Step != 0 {
		t.Errorf("step %d, error %v", result.Step, err)
	}
	c, err := ReadCheckpoint(filepath.Join(r.directory, LastName))
	if err != nil || c.Position.Step != 0 {
		t.Errorf("checkpoint %+v, %v", c, err)
	}
}

func TestStep_ClippingLimitsTheNormOfTheUpdate(t *testing.T) {
	const limit = .01
	r := newRig()
	r.config = sgd(r.config)
	r.config.Momentum, r.config.WeightDecay, r.config.LearningRate, r.config.WarmupSteps, r.config.ClipNorm = 0, 0,
		1, 0, limit
	r.config.MaxSteps = 1
	var norm float64
	r.observers = []Observer{{Step: func(e StepDone) { norm = e.GradNorm }}}
	trainer := r.trainer(t)
	before := weights(t, trainer.Net)
	run(t, trainer)
	sum := 0.0
	for name, after := range weights(t, trainer.Net) {
		for i, w := range after {
			d := float64(w) - float64(before[name][i])
			sum += d * d
		}
	}
	if got := math.Sqrt(sum); !(norm > 10*limit) || math.Abs(got-limit) > 1e-4*limit {
		t.Errorf("gradient of norm %v, limit %v: the weights moved by %v", norm, limit, got)
	}
}

func TestTrainer_EveryEpochAndStageHasItsOwnOrderAndMasks(t *testing.T) {
	r := newRig()
	orders, seeds := map[string]bool{}, map[uint64]bool{}
	for _, stage := range []int{1, 2} {
		o := r.options(t)
		o.Stage = stage
		trainer := newTrainer(t, o)
		for epoch := 1; epoch <= 3; epoch++ {
			trainer.at.Epoch = epoch
			check(t, trainer.fetch(t.Context()))
			orders[strings.Join(trainer.batches.held[0].IDs, " ")] = true
			seeds[trainer.updater.dropoutSeed(&StepDone{Progress: Progress{Epoch: epoch, Step: 1}})] = true
			trainer.batches.leave()
		}
	}
	if len(orders) != 6 || len(seeds) != 6 {
		t.Errorf("%d orders and %d seeds of masks in 2 stages of 3 epochs", len(orders), len(seeds))
	}
	r.config.Overfit = true
	trainer := r.trainer(t)
	first := trainer.updater.dropoutSeed(&StepDone{Progress: Progress{Epoch: 1, Step: 1}})
	if trainer.updater.dropoutSeed(&StepDone{Progress: Progress{Epoch: 1, Step: 2}}) == first {
		t.Error("a batch that comes at every step has the same mask each time")
	}
}

// thirds are weights of bags.
func thirds(bag int) float32 { return float32(bag%3) + .5 }

// Weights of 1 change no bit of what is learned, and others do. A run continues only with the same weights.
func TestStep_WeightsOfBags(t *testing.T) {
	for _, mil := range []bool{false, true} {
		options := func(weigh func(bag int) float32) Options {
			r := newRig()
			r.mil, r.dropout, r.config.Accumulate, r.noise, r.weigh = mil, .3, 2, model.FeatureDependent, weigh
			return r.options(t)
		}
		learn := func(o Options) map[string][]float32 {
			run(t, newTrainer(t, o))
			return weights(t, o.Net)
		}
		want := learn(options(nil))
		if got := learn(options(func(int) float32 { return 1 })); !reflect.DeepEqual(got, want) {
			t.Errorf("mil %t: weights of 1 change what is learned", mil)
		}
		if got := learn(options(thirds)); reflect.DeepEqual(got, want) {
			t.Errorf("mil %t: weights change nothing", mil)
		}
		plain, err := identify(options(nil))
		expect.OK(t, err)
		if weighted, err := identify(options(thirds)); err != nil || weighted.data.Fingerprint == plain.data.Fingerprint {
			t.Errorf("mil %t: runs with and without weights are one: %v", mil, err)
		}
	}
}
