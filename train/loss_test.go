package train

import (
	"slices"
	"testing"

	"nmn/internal/expect"
	"nmn/kernels/noise"
	"nmn/loader"
	"nmn/model"
)

// losses are all, the usual one first.
var losses = []string{crossEntropy, Asymmetric, RejectLarge, CorrectLarge}

func TestLoss_ValidateNamesFieldAndCure(t *testing.T) {
	for want, loss := range map[string]LossConfig{
		`loss.kind is "focal", want bce, asl, ll-r or ll-ct`: {Kind: "focal"},
		"loss.gamma_negative is -1, want at least 0":         {Kind: Asymmetric, GammaNegative: -1},
		"loss.margin is 1, want at least 0 and at most 0.99": {Kind: Asymmetric, Margin: 1},
		"which is bce":                        {Kind: Asymmetric},
		"loss.delta is 0, want more than 0":   {Kind: RejectLarge},
		"loss.delta is 101":                   {Kind: CorrectLarge, Delta: 101},
		"loss.delta is 0.2, which is for the": {Kind: Asymmetric, Margin: .1, Delta: .2},
		"loss.margin is 0.1, which is for the loss asl, and train.loss.kind is bce": {Margin: .1},
	} {
		c := Paper()
		c.Loss = loss
		expect.Refusal(t, c.Validate(), want)
	}
	for _, kind := range losses {
		c := Paper()
		c.Loss = DefaultLoss(kind)
		if err := c.Validate(); err != nil || c.Loss.Name() != kind {
			t.Errorf("%s by default, named %s: %v", kind, c.Loss.Name(), err)
		}
	}
}

func TestLoss_IsRefusedForANoiseModel(t *testing.T) {
	for _, kind := range losses[1:] {
		r := newRig()
		r.noise, r.config.Loss = model.FeatureIndependent, DefaultLoss(kind)
		expect.Refusal(t, expect.ErrorOf(New(r.options(t))), "loss "+kind+" is for the classifier alone")
	}
}

// The share grows by Delta_rel per cent from the second epoch on, and counts are rounded up, except for the
// errors of the product: .2 per cent of 16,000 are 32.
func TestLoss_ShareOfLargeLossesGrowsFromTheSecondEpoch(t *testing.T) {
	for _, test := range []struct {
		delta                float64
		epoch, labels, count int
	}{{.2, 1, 16000, 0}, {.2, 2, 16000, 32}, {.2, 4, 16000, 96}, {.1, 2, 999, 1}, {.1, 8, 1001, 8}, {50, 4, 10, 10}} {
		loss := LossConfig{Kind: RejectLarge, Delta: test.delta}
		if got := loss.largeLosses(test.epoch, test.labels); got != (model.LargeLosses{Treatment: model.RejectLarge,
			Count: test.count}) {
			t.Errorf("%g per cent of %d labels in epoch %d: %+v, want %d",
				test.delta, test.labels, test.epoch, got, test.count)
		}
	}
	if got := DefaultLoss(Asymmetric).largeLosses(3, 100); got != (model.LargeLosses{}) {
		t.Errorf("asl treats large losses: %+v", got)
	}
}

// Every loss learns something else, except that LL leaves its first epoch as it is.
func TestLoss_ChangesWhatIsLearned(t *testing.T) {
	found := map[string][]float64{}
	for _, kind := range losses {
		r := newRig()
		if r.config.Loss = DefaultLoss(kind); kind == RejectLarge || kind == CorrectLarge {
			r.config.Loss.Delta = 5
		}
		var reported []float64
		r.observers = []Observer{record(&reported)}
		run(t, r.trainer(t))
		found[kind] = reported
	}
	const perEpoch = 5
	for i, a := range losses {
		for _, b := range losses[i+1:] {
			first := a != Asymmetric && b != Asymmetric
			if got := slices.Equal(found[a][:perEpoch], found[b][:perEpoch]); got != first {
				t.Errorf("%s and %s have equal losses in the first epoch: %t", a, b, got)
			}
			if slices.Equal(found[a][perEpoch:], found[b][perEpoch:]) {
				t.Errorf("%s and %s have equal losses in the second epoch", a, b)
			}
		}
	}
	if bce, rejected := found[crossEntropy][perEpoch], found[RejectLarge][perEpoch]; !(rejected < bce) {
		t.Errorf("loss %g of step %d without large ones, %g with them", rejected, perEpoch+1, bce)
	}
}

func TestLoss_IsTheSameByItsName(t *testing.T) {
	r := newRig()
	path := trained(t, r)
	r.config.Loss.Kind = crossEntropy
	check(t, r.trainer(t).Resume(path))
}

// Unknown targets of a class teach neither its row of the last layer nor its bias. The rest learns.
func TestTargets_UnknownOnesTeachNothing(t *testing.T) {
	for _, loss := range []LossConfig{{}, DefaultLoss(Asymmetric), {Kind: CorrectLarge, Delta: 20}} {
		r := newRig()
		r.config.Loss, r.soft = loss, .2
		o := r.options(t)
		targets := o.Loader.Targets.Float32s()
		for i := range targets {
			if i%36 < 6 {
				targets[i] = loader.Unknown
			}
		}
		before := weights(t, o.Net)
		trainer := newTrainer(t, o)
		run(t, trainer)
		after := weights(t, trainer.Net)
		for _, name := range []string{"head.fc8.weight", "head.fc8.bias"} {
			row := len(after[name]) / 36
			for class := range 36 {
				learned := !slices.Equal(before[name][class*row:][:row], after[name][class*row:][:row])
				if learned != (class >= 6) {
					t.Errorf("loss %s: class %d of %s has learned: %t", loss.Name(), class, name, learned)
				}
			}
		}
	}
}

func TestTargets_UnknownOnesAreMarkedAlikeInLoaderAndKernels(t *testing.T) {
	if loader.Unknown != noise.Unknown {
		t.Errorf("%v and %v", loader.Unknown, noise.Unknown)
	}
}
