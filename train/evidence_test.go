package train

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"nmn/internal/expect"
	"nmn/kernels"
	"nmn/model"

	dense "gorgonia.org/tensor"
)

// evidenceOf returns evidence for the labels of a set: the given size, half of it for every fifth label, and
// none for every seventh.
func evidenceOf(labels *dense.Dense, size float32) *dense.Dense {
	z := labels.Uint8s()
	values := make([]float32, len(z))
	for i := range z {
		values[i] = size * (2*float32(z[i]) - 1)
		switch {
		case i%7 == 0:
			values[i] = 0
		case i%5 == 0:
			values[i] /= 2
		}
	}
	return dense.New(dense.WithShape(labels.Shape()...), dense.WithBacking(values))
}

// Certain evidence teaches what labels teach, some of them unknown.
func TestEvidence_WithoutDoubtTeachesWhatLabelsTeach(t *testing.T) {
	for _, mil := range []bool{false, true} {
		var losses [2][]float64
		for i := range losses {
			r := newRig()
			r.mil, r.dropout, r.config.Accumulate = mil, .3, 2
			r.observers = []Observer{record(&losses[i])}
			o := r.options(t)
			evidence := evidenceOf(o.Data.Labels, 1e4)
			if i == 1 {
				o.Loader.Evidence = evidence
			} else {
				o.Loader.Targets = softLabels(o.Data.Labels, 0)
				for at, e := range evidence.Float32s() {
					if e == 0 {
						o.Loader.Targets.Float32s()[at] = -1
					}
				}
			}
			run(t, newTrainer(t, o))
		}
		for step, want := range losses[0] {
			if got := losses[1][step]; !(math.Abs(got-want) <= 1e-4*want) {
				t.Fatalf("mil %t: loss of step %d is %g, by labels %g", mil, step+1, got, want)
			}
		}
	}
}

// Evidence of 0 teaches nothing: without weight decay every parameter keeps its value.
func TestEvidence_OfNothingTeachesNothing(t *testing.T) {
	r := newRig()
	r.config.WeightDecay = 0
	o := r.options(t)
	o.Loader.Evidence = dense.New(dense.WithShape(o.Data.Labels.Shape()...), dense.Of(dense.Float32))
	before := weights(t, o.Net)
	var losses []float64
	o.Observers = []Observer{record(&losses)}
	trainer := newTrainer(t, o)
	run(t, trainer)
	if !reflect.DeepEqual(weights(t, trainer.Net), before) || slices.Max(losses) != 0 {
		t.Errorf("losses %v, and weights are equal: %t", losses, reflect.DeepEqual(weights(t, trainer.Net), before))
	}
}

func TestEvidence_RefusesWhatDoesNotGoWithIt(t *testing.T) {
	for _, c := range map[string]struct {
		change func(*rig, *Options)
		says   string
	}{
		"a noise model": {func(r *rig, _ *Options) { r.noise = model.FeatureIndependent }, "noise.frozen"},
		"a loss":        {func(r *rig, _ *Options) { r.config.Loss = DefaultLoss(Asymmetric) }, "loss asl"},
		"targets": {func(_ *rig, o *Options) { o.Loader.Targets = softLabels(o.Data.Labels, 0) },
			"leave out one"},
		"NaN": {func(_ *rig, o *Options) { o.Loader.Evidence.Float32s()[40] = float32(math.NaN()) }, "sample 1"},
	} {
		r := newRig()
		r.certainty = 1
		o := r.options(t)
		c.change(&r, &o)
		o.Config, o.Net = r.config, r.options(t).Net
		expect.Refusal(t, expect.ErrorOf(New(o)), c.says)
	}
}

func TestResume_RefusesOtherTargetsAndEvidence(t *testing.T) {
	soft, sure := newRig(), newRig()
	soft.soft, sure.certainty = .2, .5
	softer, surer := soft, sure
	softer.soft, surer.certainty = .3, .6
	for _, of := range [][]rig{{soft, softer, sure, newRig()}, {sure, surer, soft, newRig()}} {
		last := trained(t, of[0])
		check(t, of[0].trainer(t).Resume(last))
		for _, r := range of[1:] {
			expect.Refusal(t, r.trainer(t).Resume(last), "", ErrOtherRun)
		}
	}
}

// Threads change nothing, with instances and without.
func TestEvidence_ThreadsChangeNothing(t *testing.T) {
	for _, mil := range []bool{false, true} {
		var first map[string][]float32
		for _, threads := range []int{1, 3} {
			r := newRig()
			r.certainty, r.mil, r.device = 2, mil, func(t testing.TB) kernels.Backend { return openCPU(t, threads) }
			trainer := r.trainer(t)
			run(t, trainer)
			if got := weights(t, trainer.Net); first == nil {
				first = got
			} else if !reflect.DeepEqual(got, first) {
				t.Errorf("mil %t: %d threads give other weights", mil, threads)
			}
		}
	}
}
