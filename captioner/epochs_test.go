package captioner

import (
	"math"
	"slices"
	"testing"

	"nmn/train"
)

// tooSmall is a learning rate that moves no weight: what then differs from epoch to epoch is not what was learned.
const tooSmall = 1e-30

// losses trains and gives the mean loss of a caption of each epoch.
func losses(t *testing.T, r rig) (all []float64) {
	t.Helper()
	r.observers = append(r.observers, Observer{Epoch: func(e EpochDone) { all = append(all, e.Loss) }})
	run(t, r.trainer(t))
	return all
}

func TestTrainer_DropoutDrawsOtherMasksInEveryEpoch(t *testing.T) {
	r := newRig()
	r.config.LearningRate, r.config.Epochs = tooSmall, 3
	alike := func(a, b float64) bool { return math.Abs(a-b) < 1e-5 }
	if plain := losses(t, r); !alike(plain[0], plain[1]) || !alike(plain[1], plain[2]) {
		t.Fatalf("without dropout the losses of epochs are %v, want them alike: no weight moves", plain)
	}
	r.dropout = .5
	if dropped := losses(t, r); alike(dropped[0], dropped[1]) || alike(dropped[1], dropped[2]) ||
		alike(dropped[0], dropped[2]) {
		t.Errorf("with dropout the losses of epochs are %v: the masks of an epoch come again", dropped)
	}
}

// The captions that stand together in a batch change from epoch to epoch, and none comes twice in one.
func TestTrainer_CaptionsComeInAnotherOrderInEveryEpoch(t *testing.T) {
	r := newRig()
	trainer := r.trainer(t)
	epochs := make([][]int, r.config.Epochs)
	trainer.Observers = []Observer{{Step: func(s StepDone) {
		epochs[s.Epoch-1] = append(epochs[s.Epoch-1], trainer.batch.Samples...)
	}}}
	run(t, trainer)
	for epoch, samples := range epochs {
		if epoch > 0 && slices.Equal(samples, epochs[epoch-1]) {
			t.Errorf("epoch %d has the captions in the order of the one before", epoch+1)
		}
		if all := slices.Sorted(slices.Values(samples)); !slices.Equal(all, slices.Compact(slices.Clone(all))) ||
			len(all) != len(trainer.pairs) {
			t.Errorf("epoch %d has the captions %v", epoch+1, samples)
		}
	}
}

// A batch holds the frames that a clip has, not the room that the longest clip takes.
func TestTrainer_ClipsHaveTheirOwnNumberOfFrames(t *testing.T) {
	trainer, data := newRig().trainer(t), newReel(t)
	trainer.Observers = []Observer{{Step: func(s StepDone) {
		for i, sample := range trainer.batch.Samples {
			clip := trainer.pairs[sample].clip
			want := make([]float32, data.Frames()*data.Width())
			check(t, data.Features(clip, want))
			if got := trainer.batch.Features[i]; !slices.Equal(got, want[:data.FrameCount(clip)*data.Width()]) {
				t.Errorf("step %d: the features of clip %d are %v, want its %d frames", s.Step, clip, got,
					data.FrameCount(clip))
			}
		}
	}}}
	run(t, trainer)
}

// Weight decay shrinks weights. Biases, which begin with 1 where cells are to remember, are left alone.
func TestTrainer_WeightDecaySparesBiases(t *testing.T) {
	r := newRig()
	r.config.Optimizer, r.config.Momentum, r.config.ClipNorm = train.SGD, 0, 0
	r.config.Epochs, r.config.MaxSteps = 0, 1
	oneStep := func(decay float64) *Trainer {
		r.config.WeightDecay = decay
		trainer := r.trainer(t)
		run(t, trainer)
		return trainer
	}
	plain, decayed := oneStep(0), oneStep(.1)
	for i, p := range plain.Net.Params() {
		before, err := p.Values(plain.Net.Backend())
		check(t, err)
		after, err := decayed.Net.Params()[i].Values(decayed.Net.Backend())
		check(t, err)
		if same := slices.Equal(before, after); same != p.Bias {
			t.Errorf("%s with and without decay: alike %t, want %t", p.Name, same, p.Bias)
		}
	}
}

// The first step has the first rate of the schedule.
func TestTrainer_RatesFollowTheSchedule(t *testing.T) {
	r := newRig()
	r.config.LearningRate, r.config.WarmupSteps, r.config.Epochs, r.config.MaxSteps = .04, 4, 0, 6
	r.config.Schedule, r.config.StepEvery, r.config.StepFactor = train.StepDown, 5, .5
	var rates []float64
	r.observers = []Observer{{Step: func(s StepDone) { rates = append(rates, s.LearningRate) }}}
	run(t, r.trainer(t))
	want := []float64{.01, .02, .03, .04, .04, .02} // four steps of warm-up, and half of the rate after five
	for i := range want {
		if len(rates) != len(want) || math.Abs(rates[i]-want[i]) > 1e-12 {
			t.Fatalf("rates %v, want %v", rates, want)
		}
	}
}
