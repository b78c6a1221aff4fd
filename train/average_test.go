package train

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/eval"
	"nmn/format/safetensors"
	"nmn/internal/expect"
	"nmn/loader"
	"nmn/model"
)

// averaging is a rig whose weights are averaged, with a noise model and a layer that is frozen.
func averaging(t *testing.T) rig {
	r := newRig()
	r.directory, r.validation = t.TempDir(), true
	r.config.EMA, r.config.EvaluateEpochs, r.noise = .8, 1, model.FeatureDependent
	r.config.Freeze = []string{"backbone.conv1_1.*"}
	return r
}

// tensorsOf reads all float tensors of a checkpoint.
func tensorsOf(t *testing.T, path string) map[string][]float32 {
	t.Helper()
	f, err := safetensors.Open(path)
	expect.OK(t, err)
	defer func() { check(t, f.Close()) }()
	all := map[string][]float32{}
	for _, name := range f.Names() {
		all[name], _, err = f.Float32(name)
		check(t, err)
	}
	return all
}

func TestAverage_OfTheWeightsOfAllStepsWithItsWarmUp(t *testing.T) {
	r := averaging(t)
	r.validation = false
	var trainer *Trainer
	var average map[string][]float64
	follow := func(step int) {
		if average == nil {
			average = map[string][]float64{}
		}
		share := 1 - min(.8, (1+float64(step))/(10+float64(step)))
		for name, w := range weights(t, trainer.Net) {
			if average[name] == nil {
				average[name] = make([]float64, len(w))
				share = 1
			}
			for i, v := range w {
				average[name][i] += share * (float64(v) - average[name][i])
			}
		}
	}
	r.observers = []Observer{{Step: func(e StepDone) { follow(e.Step) }}}
	trainer = r.trainer(t)
	follow(0)
	run(t, trainer)
	for name, w := range weights(t, trainer.Net) {
		for i, got := range w {
			if want := average[name][i]; !(math.Abs(float64(got)-want) <= 1e-6) {
				t.Fatalf("%s[%d] is %g at the end, its average %g", name, i, got, want)
			}
		}
	}
}

// Averaging does not change what is learned. Checkpoints hold the averages under the parameters' names.
func TestAverage_ChangesNothingThatLearnsAndIsWhatCheckpointsHold(t *testing.T) {
	r := averaging(t)
	plain := r
	plain.directory, plain.config.EMA = t.TempDir(), 0
	run(t, plain.trainer(t))
	trainer := r.trainer(t)
	run(t, trainer)
	learned := tensorsOf(t, filepath.Join(plain.directory, LastName))
	there := tensorsOf(t, filepath.Join(r.directory, LastName))
	averaged := 0
	for name, want := range learned {
		if strings.HasPrefix(name, "optimizer.") {
			continue
		}
		raw, ok := there["optimizer.w."+name]
		if frozen := learned["optimizer.m."+name] == nil; frozen {
			raw = there[name]
		} else if averaged++; !ok || slices.Equal(there[name], raw) {
			t.Errorf("%s: no average of a learning parameter", name)
		}
		if !slices.Equal(raw, want) {
			t.Errorf("%s has learned something else because it was averaged", name)
		}
	}
	if averaged < 8 {
		t.Errorf("%d averages", averaged)
	}
	net, _, err := OpenNet(filepath.Join(r.directory, LastName), openCPU(t, 1))
	expect.OK(t, err)
	defer func() { check(t, net.Close()) }()
	sameWeights(t, weights(t, net), weights(t, trainer.Net),
		"the net and its checkpoint differ after the end of the stage")
}

func TestAverage_IsWhatValidationsAndCallbacksSee(t *testing.T) {
	r := averaging(t)
	var seen []map[string][]float32
	var values []float64
	r.observers = []Observer{{Evaluated: func(e Evaluated) { values = append(values, e.Value) }}}
	o := r.options(t)
	o.AfterEpoch = func(context.Context, Position) error {
		seen = append(seen, weights(t, o.Net))
		return nil
	}
	trainer := newTrainer(t, o)
	run(t, trainer)
	last := filepath.Join(r.directory, LastName)
	net, _, err := OpenNet(last, openCPU(t, 1))
	expect.OK(t, err)
	defer func() { check(t, net.Close()) }()
	sameWeights(t, seen[len(seen)-1], weights(t, net), "the callback at the end of the last epoch saw other weights")
	c := loader.DefaultConfig()
	c.BatchSize = 8
	scores, err := Score(context.Background(), net, o.Validation, c)
	expect.OK(t, err)
	result, err := Evaluate(scores, o.Validation, o.Data, eval.Options{})
	check(t, err)
	if want := float64(Measure(r.config.BestBy, result)); values[len(values)-1] != want {
		t.Errorf("validated at %g, the checkpoint has %g", values[len(values)-1], want)
	}
}

func TestAverage_PatienceGoesBackToTheAveragesOfTheBest(t *testing.T) {
	r := overfitting(t)
	r.config.EMA = .5
	trainer := r.trainer(t)
	run(t, trainer)
	best, last := tensorsOf(t, filepath.Join(r.directory, BestName)), tensorsOf(t, filepath.Join(r.directory, LastName))
	for name := range best {
		if moment := strings.HasPrefix(name, momentPrefix) || strings.HasPrefix(name, secondPrefix); !moment &&
			!slices.Equal(best[name], last[name]) {
			t.Errorf("%s of the last checkpoint differs from the best", name)
		}
	}
}

func TestAverage_StageTwoStartsFromTheAverages(t *testing.T) {
	r := averaging(t)
	r.noise, r.validation = model.NoNoise, false
	trainer := r.trainer(t)
	run(t, trainer)
	net, err := model.New(r.net(), openCPU(t, 1))
	expect.OK(t, err)
	defer func() { check(t, net.Close()) }()
	_, err = loadClassifier(net, filepath.Join(r.directory, LastName), trainer.Data)
	check(t, err)
	sameWeights(t, weights(t, net), weights(t, trainer.Net), "stage 2 starts from other weights")
}

func TestLayerDecay_FallsFromTheHeadToTheFirstLayerBesideTheRules(t *testing.T) {
	c := plainScenes()
	c.LayerDecay, c.Noise.WeightMultiplier, c.Noise.BiasMultiplier = .5, .1, 1
	c.LearningRates = []Rule{{"head.fc8.bias", 20}}
	c.Freeze = []string{"backbone.conv1_2.*"}
	var params []*model.Param
	for _, name := range []string{"backbone.conv1_1.weight", "backbone.conv1_1.bias", "backbone.conv1_2.weight",
		"backbone.conv2_1.weight", "head.fc6.weight", "head.fc8.weight", "head.fc8.bias", "nmn.weight", "nmn.bias"} {
		params = append(params, &model.Param{Name: name})
	}
	got, err := multipliers(c, params)
	check(t, err)
	for i, want := range []float64{.0625, .0625, 0, .25, .5, 1, 20, .1, 1} {
		if got[params[i]] != want {
			t.Errorf("%s learns at %g of the rate, want %g", params[i].Name, got[params[i]], want)
		}
	}
}
