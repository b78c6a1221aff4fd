package train

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"nmn/internal/expect"
	"nmn/kernels"
	"nmn/loader"
	"nmn/loader/picture"
	"nmn/loader/scenes"
	"nmn/model"
	"nmn/ranks"
)

// rig is a small run: a few scenes, a narrow net, one stage.
type rig struct {
	threads, workers int
	mil              bool
	noise            model.NoiseMode
	dropout          float64
	bags             int
	config           Config
	directory        string
	observers        []Observer
	validation       bool
	device           func(t testing.TB) kernels.Backend // nil for the host
	source           func(loader.Source) loader.Source  // replaces the scenes, nil for no change
	stage            int                                // 0 for 1
	soft             float32                            // distance of the targets from the labels; 0 for none
	unknown          bool                               // of the targets some are
	weigh            func(bag int) float32              // nil for no weights of bags
	certainty        float32                            // size of the evidence that replaces labels; 0 for none
	clock            func() time.Time                   // nil for the machine's clock
	badAllowed       int                                // bags that cannot be read
	group            ranks.Group                        // nil for this process alone
	wire             ranks.Wire
	residual         model.Residual // of a residual net instead of the net for scenes
}

// plainScenes is the preset of scenes without its measures against noise: Adam at a constant rate, as in the
// fixtures.
func plainScenes() Config {
	c := ScenesPreset()
	c.Optimizer, c.WeightDecay, c.WarmupSteps, c.Flip, c.EMA = Adam, 0, 0, false, 0
	return c
}

func newRig() rig {
	c := plainScenes()
	c.BatchSize, c.BatchSizeMIL, c.Stage1Epochs, c.Stage2Epochs = 8, 8, 2, 2
	c.EvaluateEpochs, c.CheckpointEpochs, c.CheckpointMinutes = 0, 0, 0
	return rig{threads: 1, workers: 1, noise: model.NoNoise, bags: 40, config: c}
}

func (r rig) net() model.Config {
	if r.residual != model.Plain {
		c, _ := model.ResNet("resnet18", 36, r.mil)
		c.Residual, c.Depths, c.Widths, c.Size, c.Noise = r.residual, []int{1, 2, 1}, []int{4, 4, 4}, 48, r.noise
		return c
	}
	c := model.Scenes(36, r.mil)
	c.Widths, c.FC6, c.FC7, c.Dropout, c.Noise = []int{8, 8, 8, 8}, 16, 16, r.dropout, r.noise
	return c
}

func openCPU(t testing.TB, threads int) kernels.Backend {
	t.Helper()
	backend, err := kernels.OpenCPU(kernels.CPUConfig{Threads: threads})
	expect.OK(t, err)
	t.Cleanup(func() { check(t, backend.Close()) })
	return backend
}

func sceneSet(t testing.TB, split string, n int) *loader.Set {
	t.Helper()
	set, err := scenes.Make(scenes.Config{Seed: 5, Split: split, N: n, Cache: true})
	expect.OK(t, err)
	painted, _ := pictures.LoadOrStore([2]string{split, fmt.Sprint(n)}, set.Source)
	set.Source = painted.(loader.Source)
	return set
}

// pictures are the sources of all sets made so far: each paints a picture once.
var pictures sync.Map

// films are scenes whose bags have one frame or two, so that batches of equal numbers of frames and bags
// have other bounds.
type films struct{ loader.Source }

func (films) Frames(bag int) int { return 1 + bag*bag%3%2 }

func (f films) Read(ctx context.Context, bag, frame int, p *picture.Picture) error {
	return f.Source.Read(ctx, max(bag-frame, 0), 0, p)
}

func (r rig) options(t testing.TB) Options {
	t.Helper()
	data := sceneSet(t, "train", r.bags)
	if r.source != nil {
		data.Source = r.source(data.Source)
	}
	backend := kernels.Backend(nil)
	if r.device != nil {
		backend = r.device(t)
	} else {
		backend = openCPU(t, r.threads)
	}
	net, err := model.New(r.net(), backend)
	expect.OK(t, err)
	t.Cleanup(func() { check(t, net.Close()) })
	check(t, start(net, r.config, data))
	o := Options{Config: r.config, Stage: max(r.stage, 1), Net: net, Data: data, Loader: loader.DefaultConfig(),
		Directory: r.directory, Observers: r.observers, Clock: r.clock,
		Group: r.group, Wire: r.wire}
	o.Loader.Workers, o.Loader.Prefetch, o.Loader.MaxBadSamples = r.workers, 2*r.workers, r.badAllowed
	if r.soft > 0 {
		o.Loader.Targets = softLabels(data.Labels, r.soft)
		if r.unknown {
			forget(o.Loader.Targets)
		}
	}
	for bag := 0; r.weigh != nil && bag < data.Len(); bag++ {
		data.Weights = append(data.Weights, r.weigh(bag))
	}
	if r.certainty > 0 {
		o.Loader.Evidence = evidenceOf(data.Labels, r.certainty)
	}
	if r.validation {
		o.Validation = sceneSet(t, "val", 24)
	}
	return o
}

func (r rig) trainer(t testing.TB) *Trainer {
	t.Helper()
	return newTrainer(t, r.options(t))
}

// resumed is a trainer that goes on from the last checkpoint of the rig.
func (r rig) resumed(t testing.TB) *Trainer {
	t.Helper()
	trainer := r.trainer(t)
	expect.OK(t, trainer.Resume(filepath.Join(r.directory, LastName)))
	return trainer
}

func newTrainer(t testing.TB, o Options) *Trainer {
	t.Helper()
	trainer, err := New(o)
	expect.OK(t, err)
	t.Cleanup(func() { check(t, trainer.Close()) })
	return trainer
}

func run(t testing.TB, trainer *Trainer) Result {
	t.Helper()
	result, err := trainer.Run(context.Background())
	expect.OK(t, err)
	return result
}

// weights are all parameters of a net.
func weights(t testing.TB, net *model.Net) map[string][]float32 {
	t.Helper()
	all := map[string][]float32{}
	for _, p := range net.Params() {
		values, err := net.Values(p)
		check(t, err)
		all[p.Name] = values
	}
	return all
}

// sameWeights checks that weights are equal to the last bit; else the format says what is wrong.
func sameWeights(t testing.TB, a, b map[string][]float32, format string, args ...any) {
	t.Helper()
	if !maps.EqualFunc(a, b, slices.Equal) {
		t.Errorf(format, args...)
	}
}

func allocatesNothing(t *testing.T, step func()) {
	t.Helper()
	if allocations := testing.AllocsPerRun(5, step); allocations != 0 {
		t.Errorf("%v allocations in a step", allocations)
	}
}

// record collects the losses of all steps.
func record(losses *[]float64) Observer {
	return Observer{Step: func(s StepDone) { *losses = append(*losses, s.Loss) }}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// isOfStep checks that a checkpoint was saved after a step.
func isOfStep(t testing.TB, path string, step int) {
	t.Helper()
	if c, err := ReadCheckpoint(path); err != nil || c.Position.Step != step {
		t.Errorf("%s is of %+v, %v; want step %d", path, c, err, step)
	}
}
