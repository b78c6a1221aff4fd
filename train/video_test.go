package train

import (
	"math"
	"slices"
	"testing"

	"nmn/eval"
	"nmn/internal/expect"
	"nmn/loader"
	"nmn/loader/scenes"
	"nmn/model"
)

func moving(t testing.TB, split string, clips int) *loader.Set {
	t.Helper()
	set, err := scenes.MakeMoving(scenes.MovingConfig{Seed: 5, Split: split, N: clips, Frames: 5, Cache: true})
	expect.OK(t, err)
	return set
}

// A net that looks at frames gives a video the maximum over them, however the batches fall.
func TestScore_ByFrameIsTheMaximumOverTheFrames(t *testing.T) {
	r := newRig()
	r.noise = model.FeatureDependent
	trainer := r.trainer(t)
	run(t, trainer)
	set := moving(t, "test", 7)
	frames, index, err := loader.Frames(t.Context(), set)
	expect.OK(t, err)
	config := loader.DefaultConfig()
	config.BatchSize = 4
	each, err := Score(t.Context(), trainer.Net, frames, config)
	expect.OK(t, err)
	byFrame := *set
	byFrame.ByFrame = true
	config.BatchSize = 3 // cuts clips of 5 frames
	got, err := Score(t.Context(), trainer.Net, &byFrame, config)
	expect.OK(t, err)
	for _, of := range []struct {
		what          string
		frames, video []float32
	}{
		{"logits", each.Logits.Float32s(), got.Logits.Float32s()},
		{"probabilities", each.Prob.Float32s(), got.Prob.Float32s()},
		{"observed", each.Observed.Float32s(), got.Observed.Float32s()},
	} {
		videos, want := maxima(index, each.Index, of.frames, 36)
		if !slices.Equal(got.Index, videos) || !slices.Equal(of.video, want) {
			t.Errorf("%s of videos %v differ from the maxima over their frames", of.what, got.Index)
		}
	}
	if !slices.Equal(got.Rates.Q01, each.Rates.Q01) {
		t.Error("the rates are not the means over all frames")
	}
	if result, err := Evaluate(got, &byFrame, nil, eval.Options{}); err != nil || result.Bags != 7 {
		t.Errorf("%d of 7 videos are evaluated: %v", result.Bags, err)
	}
}

// maxima are the maxima of scores over the frames of each video. frames lists the frames of the rows, ascending.
func maxima(index *loader.FrameIndex, frames []int, scores []float32, classes int) (videos []int, best []float32) {
	for i, frame := range frames {
		row := scores[i*classes : (i+1)*classes]
		video, _ := index.Of(frame)
		if len(videos) == 0 || videos[len(videos)-1] != video {
			videos, best = append(videos, video), append(best, row...)
			continue
		}
		for k, most := range best[len(best)-classes:] {
			best[len(best)-classes+k] = max(most, row[k])
		}
	}
	return videos, best
}

// Training at frame level and at video level learns clips. Validation at frame level scores videos.
func TestRun_LearnsVideosAtBothLevels(t *testing.T) {
	t.Parallel()
	for name, byFrame := range map[string]bool{"frame": true, "video": false} {
		t.Run(name, func(t *testing.T) {
			r := newRig()
			r.mil, r.config.Stage1Epochs, r.config.LearningRate, r.config.EvaluateEpochs = !byFrame, 6, 5e-3, 6
			o := r.options(t)
			o.Data, o.Validation = moving(t, "train", 40), moving(t, "val", 9)
			samples := 40
			if byFrame {
				var err error
				if o.Data, _, err = loader.Frames(t.Context(), o.Data); err != nil {
					t.Fatal(err)
				}
				o.Validation.ByFrame, samples = true, 200
			}
			var epochs []EpochDone
			var evaluated []Evaluated
			o.Observers = []Observer{{Epoch: func(e EpochDone) { epochs = append(epochs, e) },
				Evaluated: func(e Evaluated) { evaluated = append(evaluated, e) }}}
			run(t, newTrainer(t, o))
			if epochs[0].Bags != samples || epochs[0].Images != 200 {
				t.Errorf("%d samples of %d frames, want %d of 200", epochs[0].Bags, epochs[0].Images, samples)
			}
			if first, last := epochs[0].Loss, epochs[5].Loss; !(last < .97*first) || math.IsNaN(last) {
				t.Errorf("loss went from %v to %v", first, last)
			}
			if len(evaluated) == 0 || evaluated[0].Result.Bags != 9 {
				t.Errorf("validations %+v, want of 9 videos", evaluated)
			}
		})
	}
}

// The noisy-or over the cells of all frames of a clip starts at the share of positive labels.
func TestStart_LabelMeansPredictThePrevalenceOfVideos(t *testing.T) {
	r := newRig()
	r.mil, r.config.ClassifierDeviation = true, 0
	o := r.options(t)
	o.Data = moving(t, "train", 40)
	check(t, start(o.Net, o.Config, o.Data))
	scores, err := Score(t.Context(), o.Net, o.Data, o.loaderConfig())
	expect.OK(t, err)
	for c := range 36 {
		positive := 0.0
		for i := range 40 {
			positive += float64(o.Data.Labels.Uint8s()[i*36+c])
		}
		want := min(max(positive, .5), 39.5) / 40
		if got := float64(scores.Prob.Float32s()[c]); math.Abs(got-want) > 1e-5 {
			t.Errorf("class %d: predicts %v, prevalence %v", c, got, want)
		}
	}
}
