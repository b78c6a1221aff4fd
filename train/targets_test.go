package train

import (
	"reflect"
	"testing"

	"nmn/internal/expect"
	"nmn/loader"
	"nmn/model"

	dense "gorgonia.org/tensor"
)

// softLabels are the labels of a set as targets, moved towards .5 by a share.
func softLabels(labels *dense.Dense, share float32) *dense.Dense {
	z := labels.Uint8s()
	values := make([]float32, len(z))
	for i := range z {
		values[i] = float32(z[i]) + share*(.5-float32(z[i]))
	}
	return dense.New(dense.WithShape(labels.Shape()...), dense.WithBacking(values))
}

// forget makes every third target unknown, and labels of the others that are moved from 0 a 0 again.
func forget(targets *dense.Dense) {
	for i, v := range targets.Float32s() {
		switch {
		case i%3 == 0:
			targets.Float32s()[i] = loader.Unknown
		case v < .5:
			targets.Float32s()[i] = 0
		}
	}
}

// classifier is a net without its noise model.
func classifier(t *testing.T, net *model.Net) map[string][]float32 {
	t.Helper()
	all := weights(t, net)
	for _, name := range noiseNames {
		delete(all, name)
	}
	return all
}

// Targets bypass the noise model. If they equal the labels, a net with a frozen noise model learns what a net
// without one learns from the labels.
func TestTargets_TeachTheClassifierPastTheNoiseModel(t *testing.T) {
	plain := newRig()
	plain.dropout = .3
	want := plain.trainer(t)
	run(t, want)
	for _, share := range []float32{0, .2} {
		r := plain
		r.noise, r.config.Noise.Frozen = model.FeatureIndependent, true
		o := r.options(t)
		o.Loader.Targets = softLabels(o.Data.Labels, share)
		before := weights(t, o.Net)
		got := newTrainer(t, o)
		run(t, got)
		if equal := reflect.DeepEqual(classifier(t, got.Net), classifier(t, want.Net)); equal != (share == 0) {
			t.Errorf("targets %g away from the labels: equal to a net that learned the labels: %t", share, equal)
		}
		for _, name := range noiseNames {
			if !reflect.DeepEqual(weights(t, got.Net)[name], before[name]) {
				t.Errorf("%s has learned from targets", name)
			}
		}
	}
}

func TestTargets_RefuseANoiseModelThatLearns(t *testing.T) {
	r := newRig()
	r.noise = model.FeatureIndependent
	o := r.options(t)
	o.Loader.Targets = softLabels(o.Data.Labels, 0)
	expect.Refusal(t, expect.ErrorOf(New(o)), "noise.frozen")
}

func TestEvaluated_BringsTheScores(t *testing.T) {
	r := newRig()
	r.validation, r.config.EvaluateEpochs = true, 1
	seen := 0
	r.observers = []Observer{{Evaluated: func(e Evaluated) {
		seen++
		if len(e.Scores.Index) != 24 || len(e.Scores.Logits.Float32s()) != 24*36 {
			t.Errorf("scores of %d bags", len(e.Scores.Index))
		}
	}}}
	run(t, r.trainer(t))
	if seen != r.config.Stage1Epochs {
		t.Errorf("%d evaluations of %d epochs", seen, r.config.Stage1Epochs)
	}
}
