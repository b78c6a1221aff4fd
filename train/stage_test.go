package train

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/eval"
	"nmn/internal/expect"
	"nmn/loader"
	"nmn/model"
)

// armNamed is an arm of the paper's.
func armNamed(t *testing.T, name string) Arm {
	t.Helper()
	for _, a := range []Arm{
		{"stage1", false, 1, model.NoNoise}, {"baseline", false, 2, model.NoNoise},
		{"nmn-fi", false, 2, model.FeatureIndependent}, {"nmn-fd", false, 2, model.FeatureDependent},
		{"baseline-mil", true, 2, model.NoNoise},
	} {
		if a.Name == name {
			return a
		}
	}
	t.Fatalf("no arm %q", name)
	return Arm{}
}

func TestArm_FirstIsStage1WithTheSameMIL(t *testing.T) {
	for _, a := range []Arm{{"nmn-fd", false, 2, model.FeatureDependent}, {"baseline-mil", true, 2, model.NoNoise}} {
		if first := a.First(); first.Stage != 1 || first.MIL != a.MIL || first.Noise != model.NoNoise ||
			first.First() != first {
			t.Errorf("%s starts from %+v", a.Name, first)
		}
	}
}

// newNet makes the net of an arm.
func newNet(t *testing.T, arm string, r rig, data *loader.Set, from string) (*model.Net, error) {
	t.Helper()
	a := armNamed(t, arm)
	r.mil = a.MIL
	net, _, err := a.NewNet(r.net(), openCPU(t, 1), r.config, data, from)
	if err == nil {
		t.Cleanup(func() { check(t, net.Close()) })
	}
	return net, err
}

func TestArm_Stage2StartsFromTheClassifierOfStage1WithAFreshNoiseModel(t *testing.T) {
	r := short()
	r.directory = t.TempDir()
	data := sceneSet(t, "train", 40)
	first, err := newNet(t, "stage1", r, data, "")
	expect.OK(t, err)
	o := r.options(t)
	o.Net, o.Data = first, data
	run(t, newTrainer(t, o))
	path := filepath.Join(r.directory, LastName)
	want := weights(t, first)
	for _, arm := range []string{"baseline", "nmn-fi", "nmn-fd"} {
		net, err := newNet(t, arm, r, data, path)
		expect.OK(t, err)
		for name, values := range weights(t, net) {
			switch {
			case name == "nmn.weight":
				if slices.ContainsFunc(values, func(v float32) bool { return v != 0 }) {
					t.Errorf("%s: U does not start at 0", arm)
				}
			case name == "nmn.bias":
				miss, wrong := make([]float32, 36), make([]float32, 36)
				model.NoiseRates(miss, wrong, values)
				if math.Abs(float64(miss[5])-.35) > 1e-6 || math.Abs(float64(wrong[5])-.16) > 1e-6 {
					t.Errorf("%s starts at rates %v and %v", arm, miss[5], wrong[5])
				}
			case !slices.Equal(values, want[name]):
				t.Errorf("%s: %s is not that of stage 1", arm, name)
			}
		}
		o.Net, o.Stage, o.Directory = net, 2, t.TempDir()
		if result := run(t, newTrainer(t, o)); result.Step != 3 {
			t.Errorf("%s ended at step %d", arm, result.Step)
		}
	}
	expect.Refusal(t, expect.ErrorOf(newNet(t, "baseline-mil", r, data, path)), "", ErrOtherModel)
	if _, err := newNet(t, "baseline", r, data, ""); err == nil {
		t.Error("stage 2 without a checkpoint was accepted")
	}
	if _, err := newNet(t, "stage1", r, data, path); err == nil {
		t.Error("stage 1 from a checkpoint was accepted")
	}
}

// A classifier whose last weights are 0 predicts its bias: with label means that is the share of
// positive labels of each class, with MIL too.
func TestStart_LabelMeansPredictThePrevalence(t *testing.T) {
	for _, mil := range []bool{false, true} {
		r := newRig()
		r.mil, r.config.ClassifierDeviation = mil, 0
		o := r.options(t)
		scores, err := Score(t.Context(), o.Net, o.Data, o.loaderConfig())
		expect.OK(t, err)
		for c := range 36 {
			share := 0.0
			for i := range o.Data.Len() {
				share += float64(o.Data.Labels.Uint8s()[i*36+c]) / float64(o.Data.Len())
			}
			want := min(max(share, .5/40), 1-.5/40)
			if got := float64(scores.Prob.Float32s()[c]); math.Abs(got-want) > 1e-5 {
				t.Errorf("mil %t, class %d: predicts %v, prevalence %v", mil, c, got, want)
			}
		}
	}
}

func TestScore_RowsAndRates(t *testing.T) {
	r := newRig()
	r.noise, r.mil = model.FeatureDependent, true
	o := r.options(t)
	u := named(o.Net, "nmn.weight")
	values := make([]float32, u.W.Len())
	for i := range values {
		values[i] = float32(i%7-3) / 10
	}
	check(t, o.Net.SetValues(u, values))
	config := o.loaderConfig()
	scores, err := Score(t.Context(), o.Net, o.Data, config)
	expect.OK(t, err)
	config.BatchSize, config.Workers = 40, 3
	second, err := Score(t.Context(), o.Net, o.Data, config)
	expect.OK(t, err)
	if !slices.Equal(scores.Logits.Float32s(), second.Logits.Float32s()) ||
		!slices.Equal(scores.Rates.Q01, second.Rates.Q01) {
		t.Error("scores depend on the batches")
	}
	for i, bag := range scores.Index {
		if i != bag {
			t.Fatalf("row %d is bag %d", i, bag)
		}
	}
	for i, logit := range scores.Logits.Float32s() {
		p, z := float64(scores.Prob.Float32s()[i]), float64(scores.Observed.Float32s()[i])
		if math.Abs(p-1/(1+math.Exp(-float64(logit)))) > 1e-6 || !(z >= 0 && z <= 1) {
			t.Fatalf("cell %d: logit %v, p(y) %v, p(z) %v", i, logit, p, z)
		}
	}
}

func TestEvaluate_ComparesWithLabelsTruthCountsAndTrueRates(t *testing.T) {
	r := newRig()
	r.noise = model.FeatureIndependent
	o := r.options(t)
	scores, err := Score(t.Context(), o.Net, o.Data, o.loaderConfig())
	expect.OK(t, err)
	result, err := Evaluate(scores, o.Data, o.Data, eval.Options{})
	expect.OK(t, err)
	for _, name := range Measures() {
		if ofOneClass := strings.HasSuffix(name, "accuracy"); Measure(name, result).Defined() == ofOneClass {
			t.Errorf("%s is defined: %t", name, !ofOneClass)
		}
	}
	if result.Observed == nil || result.Transition == nil || math.Abs(float64(result.Transition.Q01.All)-.35) > 1e-5 ||
		!result.Transition.Q01Error.All.Defined() {
		t.Errorf("transition %+v", result.Transition)
	}
	if Measure("precision", result).Defined() {
		t.Error("a measure that does not exist is defined")
	}
}
