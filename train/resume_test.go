package train

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"nmn/loader"
	"nmn/loader/augment"
	"nmn/model"
)

// resumable are settings that each have state of their own to lose.
func resumable() map[string]func(*rig) {
	return map[string]func(*rig){
		"adam, dropout, flips": func(r *rig) { r.dropout, r.config.Flip = .4, true },
		"all augmentations, accumulation": func(r *rig) {
			r.config.Flip, r.config.Accumulate, r.dropout, r.config.Augment = true, 2, .3, allAugmentations()
		},
		"all augmentations of clips, soft targets, held noise": func(r *rig) {
			r.source = func(s loader.Source) loader.Source { return films{s} }
			r.soft, r.noise, r.config.Noise.Frozen, r.mil = .2, model.FeatureIndependent, true, true
			r.config.Flip, r.config.Augment = true, allAugmentations()
		},
		"mil, fd, sgd, warm-up": func(r *rig) {
			r.mil, r.noise, r.config = true, model.FeatureDependent, sgd(r.config)
		},
		"accumulation, cosine": func(r *rig) {
			r.config.Accumulate, r.config.Schedule, r.dropout = 2, Cosine, .3
		},
		"soft targets, held noise": func(r *rig) {
			r.soft, r.noise, r.config.Noise.Frozen, r.dropout = .2, model.FeatureIndependent, true, .3
		},
		"chunks of clips": func(r *rig) {
			r.source = func(s loader.Source) loader.Source { return films{s} }
			r.mil, r.noise, r.dropout, r.config.ChunkFrames = true, model.FeatureDependent, .3, 3
		},
		"overfit, dropout": func(r *rig) { r.config.Overfit, r.dropout = true, .3 },
		"adamw, averages, layer decay": func(r *rig) {
			r.config.Optimizer, r.config.WeightDecay, r.config.EMA, r.config.LayerDecay = AdamW, .01, .9, .8
			r.mil, r.noise, r.config.Freeze = true, model.FeatureDependent, []string{"backbone.conv1_1.*"}
			r.validation, r.config.EvaluateSteps = true, 3
		},
		"residual net, chunks of clips, averages, layer decay": func(r *rig) {
			r.source = func(s loader.Source) loader.Source { return films{s} }
			r.mil, r.noise, r.residual, r.config.ChunkFrames = true, model.FeatureDependent, model.Basic, 3
			r.config.EMA, r.config.LayerDecay, r.config.Flip = .9, .8, true
		},
		"bottlenecks, sgd, a stage rests": func(r *rig) {
			r.mil, r.noise, r.residual, r.config = true, model.FeatureIndependent, model.Bottleneck, sgd(r.config)
			r.config.Freeze = []string{"backbone.conv1.*", "backbone.layer1.*"}
		},
		"weights of ragged bags, accumulation": func(r *rig) {
			r.source = func(s loader.Source) loader.Source { return films{s} }
			r.weigh, r.mil, r.noise, r.config.Accumulate = thirds, true, model.FeatureDependent, 2
		},
		"asymmetric loss": func(r *rig) { r.mil, r.config.Loss = true, DefaultLoss(Asymmetric) },
		"large losses, mil, ragged batches": func(r *rig) {
			r.mil, r.bags, r.config.Loss = true, 38, LossConfig{Kind: CorrectLarge, Delta: 3}
		},
		"evidence, mil, dropout, accumulation": func(r *rig) {
			r.certainty, r.mil, r.dropout, r.config.Accumulate = 1.5, true, .3, 2
		},
		"large losses of soft targets, accumulation": func(r *rig) {
			r.soft, r.unknown, r.config.Accumulate = .2, true, 2
			r.config.Loss = LossConfig{Kind: RejectLarge, Delta: 3}
		},
	}
}

// allAugmentations turns every augmentation on.
func allAugmentations() augment.Config {
	c := augment.Strong.Config()
	c.Jitter, c.Erasing.Value, c.Mixup = augment.Light.Config().Jitter, augment.FillNoise, .4
	return c
}

func sgd(c Config) Config {
	c.Optimizer, c.LearningRate, c.WeightDecay, c.ClipNorm, c.WarmupSteps = SGD, 1e-3, 1e-3, 5, 4
	return c
}

// interruptAt cancels a context after a step.
func interruptAt(step int, cancel context.CancelFunc) Observer {
	return Observer{Step: func(s StepDone) {
		if s.Step == step {
			cancel()
		}
	}}
}

func TestResume_EqualsUnbrokenRunBitForBit(t *testing.T) {
	t.Parallel()
	settings := resumable()
	if testing.Short() {
		maps.DeleteFunc(settings, func(name string, _ func(*rig)) bool {
			return !slices.Contains([]string{"all augmentations, accumulation", "chunks of clips",
				"adamw, averages, layer decay"}, name)
		})
	}
	for name, change := range settings {
		t.Run(name, func(t *testing.T) {
			r := newRig()
			change(&r)
			var unbroken []float64
			r.observers = []Observer{record(&unbroken)}
			trainer := r.trainer(t)
			want := run(t, trainer)
			steps := want.Step
			// Mid-epoch, at the end of an epoch, and at the very end, each on other threads and workers.
			places := map[int]int{1: 2, steps/2 - 1: 1, steps / 2: 3, steps - 1: 2}
			if testing.Short() {
				places = map[int]int{steps/2 - 1: 2}
			}
			for at, threads := range places {
				t.Run(fmt.Sprintf("after step %d", at), func(t *testing.T) {
					r.directory = t.TempDir()
					losses := interrupted(t, r, at, threads)
					resumed, got := resume(t, r, &losses, threads)
					if !slices.Equal(losses, unbroken) {
						t.Errorf("losses %v, unbroken %v", losses, unbroken)
					}
					sameWeights(t, weights(t, resumed.Net), weights(t, trainer.Net), "weights differ from the unbroken run")
					if got.Position != want.Position {
						t.Errorf("position %+v, unbroken %+v", got.Position, want.Position)
					}
				})
			}
		})
	}
}

// interrupted runs to a step and leaves a checkpoint.
func interrupted(t *testing.T, r rig, step, threads int) (losses []float64) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r.threads, r.workers = threads, threads
	r.observers = []Observer{record(&losses), interruptAt(step, cancel)}
	_, err := r.trainer(t).Run(ctx)
	if !errors.Is(err, ErrInterrupted) || !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted run gave %v", err)
	}
	if len(losses) != step {
		t.Fatalf("interrupted at step %d, %d steps were made", step, len(losses))
	}
	return losses
}

func resume(t *testing.T, r rig, losses *[]float64, threads int) (*Trainer, Result) {
	t.Helper()
	r.threads, r.workers = 3-min(threads, 2), 3
	r.observers = []Observer{record(losses)}
	trainer := r.resumed(t)
	return trainer, run(t, trainer)
}

func TestResume_FinishedStageTellsTheSameEnd(t *testing.T) {
	r := newRig()
	r.directory = t.TempDir()
	want := run(t, r.trainer(t))
	var losses []float64
	_, got := resume(t, r, &losses, 1)
	if len(losses) > 0 {
		t.Errorf("%d steps were made again", len(losses))
	}
	if got.Position != want.Position || got.Loss == 0 {
		t.Errorf("position %+v, at the end of the run %+v", got.Position, want.Position)
	}
}
