package train

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"testing"

	"nmn/eval"
	"nmn/internal/expect"
	"nmn/labels/inject"
	"nmn/loader"
	"nmn/loader/scenes"
	"nmn/loader/shard"
)

// streamed is a set of clips in shards, whose labels are read from their file clip by clip.
func streamed(t testing.TB, split string, clips int) *loader.Set {
	t.Helper()
	dir := t.TempDir()
	config := scenes.MovingConfig{Seed: 5, Split: split, N: clips, Frames: 3}
	check(t, scenes.WriteMoving(t.Context(), config, shard.Config{ShardBytes: 64 << 10}, dir))
	frames, err := loader.OpenClips(dir)
	expect.OK(t, err)
	t.Cleanup(func() { check(t, frames.Close()) })
	labels, err := loader.OpenClipLabels(filepath.Join(dir, loader.LabelsName))
	expect.OK(t, err)
	t.Cleanup(func() { check(t, labels.Close()) })
	vocabulary, err := scenes.Vocabulary()
	expect.OK(t, err)
	set, err := loader.StreamClips("clips-"+split, frames, labels, vocabulary)
	expect.OK(t, err)
	return set
}

func held(t testing.TB, set *loader.Set) *loader.Set {
	t.Helper()
	held, err := loader.Hold(t.Context(), set)
	expect.OK(t, err)
	return held
}

// views are the forms in which a set of clips is learned.
var views = map[string]func(t *testing.T, s *loader.Set) *loader.Set{
	"video": func(_ *testing.T, s *loader.Set) *loader.Set { return s },
	"frame": func(t *testing.T, s *loader.Set) *loader.Set {
		frames, _, err := loader.Frames(t.Context(), s)
		expect.OK(t, err)
		return frames
	},
	"noise": func(t *testing.T, s *loader.Set) *loader.Set {
		if s.Rows == nil {
			noise, err := inject.ReplaceCaptions(s, inject.Uniform, 2/float64(s.CaptionsPerSample), 9)
			expect.OK(t, err)
			noisy, err := noise.Apply(s)
			expect.OK(t, err)
			return noisy
		}
		noisy, err := inject.WithReplacedCaptions(t.Context(), s, inject.Uniform, 2/float64(s.CaptionsPerSample), 9)
		expect.OK(t, err)
		return noisy
	},
}

// options of a run that starts from the label means of a set.
func streamOptions(t *testing.T, data *loader.Set, directory string) Options {
	t.Helper()
	r := newRig()
	r.mil, r.dropout, r.threads, r.directory = true, .3, 2, directory
	r.config.ClassifierStart = labelMeans
	o := r.options(t)
	o.Data = data
	check(t, start(o.Net, o.Config, data))
	return o
}

// TestRun_LearnsTheSameOfStreamedLabels compares runs on labels in a file with runs on labels in memory.
// Every weight is equal, and so is the fingerprint, so that one run can continue the other.
func TestRun_LearnsTheSameOfStreamedLabels(t *testing.T) {
	t.Parallel()
	stream := streamed(t, "train", 30)
	for name, view := range views {
		t.Run(name, func(t *testing.T) {
			memory := newTrainer(t, streamOptions(t, view(t, held(t, stream)), ""))
			run(t, memory)
			file := newTrainer(t, streamOptions(t, view(t, stream), ""))
			run(t, file)
			if !reflect.DeepEqual(weights(t, file.Net), weights(t, memory.Net)) {
				t.Error("labels from a file teach something else than labels in memory")
			}
			if file.identity.data != memory.identity.data {
				t.Errorf("data %+v, in memory %+v", file.identity.data, memory.identity.data)
			}
		})
	}
}

func TestResume_OfStreamedLabelsInTheMiddleOfAnEpoch(t *testing.T) {
	t.Parallel()
	stream := streamed(t, "train", 30)
	whole := newTrainer(t, streamOptions(t, stream, t.TempDir()))
	run(t, whole)
	for name, rest := range map[string]*loader.Set{"from the file": stream, "from memory": held(t, stream)} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			o := streamOptions(t, stream, t.TempDir())
			o.Observers = []Observer{{Step: func(e StepDone) {
				if e.Step == 5 { // the first of four batches of the second epoch
					cancel()
				}
			}}}
			if _, err := newTrainer(t, o).Run(ctx); !errors.Is(err, ErrInterrupted) {
				t.Fatalf("error %v", err)
			}
			next := newTrainer(t, streamOptions(t, rest, o.Directory))
			check(t, next.Resume(filepath.Join(o.Directory, LastName)))
			if at := next.Position(); at.Epoch != 2 || at.Batch != 1 {
				t.Fatalf("it continues at %+v", at)
			}
			run(t, next)
			if !reflect.DeepEqual(weights(t, next.Net), weights(t, whole.Net)) {
				t.Error("a resumed run learns something else")
			}
		})
	}
	other := newTrainer(t, streamOptions(t, views["noise"](t, stream), whole.Directory))
	expect.Refusal(t, other.Resume(filepath.Join(whole.Directory, LastName)), "", ErrOtherRun)
}

func TestScore_OfStreamedLabels(t *testing.T) {
	stream := streamed(t, "test", 7)
	trainer := newTrainer(t, streamOptions(t, stream, ""))
	got, err := Score(t.Context(), trainer.Net, stream, trainer.Options.loaderConfig())
	expect.OK(t, err)
	want, err := Score(t.Context(), trainer.Net, held(t, stream), trainer.Options.loaderConfig())
	expect.OK(t, err)
	if !reflect.DeepEqual(got.Logits.Float32s(), want.Logits.Float32s()) {
		t.Error("scores depend on where the labels are")
	}
	expect.Refusal(t, expect.ErrorOf(Evaluate(got, stream, nil, eval.Options{})), "not in memory")
}
