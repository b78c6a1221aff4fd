package recipe

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/kernels"
	"nmn/labels/audit/multiclass"
	"nmn/labels/rates"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/model"
	"nmn/train"
)

// found returns a recipe of three folds whose nets are trained: the classifier alone is best after 4 epochs,
// through the noise model after the given number more.
func found(t *testing.T, more int) *Recipe {
	t.Helper()
	r := crossFitted(t, 1, &fakeTrainer{})
	logits := make([]float32, 2*7)
	for i := range logits {
		logits[i] = float32(i) - 6.5
	}
	noisy := slices.Clone(logits)
	slices.Reverse(noisy)
	r.plain = &round{best: 4, loss: make([]float64, 5), logits: logits}
	r.noisy = &round{best: 4 + more, loss: make([]float64, 5), logits: noisy}
	r.found = &rates.Result{Classes: []rates.Class{{Q01: .3, Q10: .1, A: 1, B: 0}, {Q01: .2, Q10: 0, A: 1, B: 0}}}
	return r
}

func planOf(t *testing.T, r *Recipe, arm Name, change func(*Settings)) *Plan {
	t.Helper()
	s := r.Settings
	s.Arm = arm
	s.Train.Stage1Epochs, s.Train.Stage2Epochs, s.Train.MaxSteps = 8, 3, 0
	if change != nil {
		change(&s)
	}
	p, err := MakePlan(t.Context(), &s, r, r.Trainer, r.Data, t.TempDir(), "")
	expect.OK(t, err)
	return p
}

// Stage 2 of held-rates goes on from stage 1, which has had the best epochs of the plain nets already.
func TestHeldRates_TrainsForTheEpochsThatTheFoldsWereBetterFor(t *testing.T) {
	for _, c := range []struct{ more, epochs, want int }{
		{5, 0, 5},
		{1, 0, 1},
		{0, 0, 1}, // at least one
		{-2, 0, 1},
		{5, 2, 2}, // as the configuration says
	} {
		p := planOf(t, found(t, c.more), HeldRates, func(s *Settings) { s.Recipe.Epochs = c.epochs })
		if n := p.Config.Noise; p.Config.Stage2Epochs != c.want || p.Config.Patience != 0 || !n.Frozen ||
			!slices.Equal(n.Q01, []float32{.3, .2}) || !slices.Equal(n.Q10, []float32{.1, leastRate}) {
			t.Errorf("noisy nets are best %d epochs later, recipe.epochs %d: %d epochs with patience %d through %+v, want %d",
				c.more, c.epochs, p.Config.Stage2Epochs, p.Config.Patience, n, c.want)
		}
	}
}

// What each arm is trained with once folds have found the rates.
func TestMakePlan_OfArmsWithFolds(t *testing.T) {
	for _, c := range []struct {
		arm            Name
		stage1, stage2 int
		frozen         bool
		targets        bool
		threshold      bool
		loss           string
	}{
		{Stage1, 4, 3, false, false, true, "bce"},
		{Baseline, 8, 3, false, false, false, "bce"},
		{BaselineEarly, 4, 3, false, false, false, "bce"},
		{HeldRates, 8, 2, true, false, true, "bce"},
		{SoftLabels, 8, softEpochs, true, true, true, "bce"},
		{Forward, 4 + 3, 3, true, false, false, "bce"},
		{ForwardTrue, 4 + 3, 3, true, false, false, "bce"},
		{ASL, 4 + 3, 3, false, false, false, "asl"},
		{LLR, 4 + 3, 3, false, false, false, "ll-r"},
		{LLCt, 4 + 3, 3, false, false, false, "ll-ct"},
		{Pruned, 4 + 3, 3, false, true, false, "bce"},
		{Clean, 4 + 3, 3, false, false, false, "bce"},
	} {
		p := planOf(t, found(t, 2), c.arm, nil)
		if p.Config.Stage1Epochs != c.stage1 || p.Config.Stage2Epochs != c.stage2 || p.Config.Noise.Frozen != c.frozen ||
			(p.Targets != nil) != c.targets || (p.Threshold != nil) != c.threshold || p.Config.Loss.Name() != c.loss {
			t.Errorf("%s: stage 1 of %d epochs, stage 2 of %d, rates held: %t, targets: %t, threshold: %t, loss %s; want %+v",
				c.arm, p.Config.Stage1Epochs, p.Config.Stage2Epochs, p.Config.Noise.Frozen, p.Targets != nil,
				p.Threshold != nil, p.Config.Loss.Name(), c)
		}
		clean := slices.Equal(p.Data.Train.Labels.Uint8s(), p.Data.Train.Truth.Uint8s())
		if clean != (c.arm == Clean) {
			t.Errorf("%s learns the true labels: %t", c.arm, clean)
		}
	}
}

// Rates that are held hold: they depend on no feature, and nothing of them is learned.
func TestMakePlan_HoldsRatesAsTheyAre(t *testing.T) {
	const missing = 4. / 6 // of the second class
	for arm, want := range map[Name][2][]float32{
		HeldRates:   {{.3, .2}, {.1, leastRate}},
		SoftLabels:  {{.3, .2}, {.1, leastRate}},
		Forward:     {{.3, .2}, {.1, leastRate}},
		ForwardTrue: {{leastRate, missing}, {leastRate, leastRate}},
	} {
		p := planOf(t, found(t, 2), arm, func(s *Settings) { s.Train.Noise.Deviation = .5 })
		n := p.Config.Noise
		if !n.Frozen || n.Deviation != 0 || !slices.Equal(n.Q01, want[0]) || !slices.Equal(n.Q10, want[1]) {
			t.Errorf("%s: noise model %+v, want miss rates %v and false rates %v, held", arm, n, want[0], want[1])
		}
	}
}

// With recipe.start, noise models that learn start at the mean rates. Nothing else of them changes.
func TestMakePlan_StartsAtTheEstimate(t *testing.T) {
	for arm, starts := range map[Name]bool{FI: true, FD: true, Baseline: false} {
		r := found(t, 2)
		r.found.PooledQ01, r.found.PooledQ10 = .25, 0
		p := planOf(t, r, arm, func(s *Settings) { s.Train.Noise.Deviation, s.Recipe.Start = .5, true })
		n := p.Config.Noise
		started := slices.Equal(n.Q01, []float32{.25}) && slices.Equal(n.Q10, []float32{leastRate})
		if n.Frozen || n.Deviation != .5 || started != starts {
			t.Errorf("%s: noise model %+v", arm, n)
		}
	}
}

// Nets without a noise model predict the observed label, and their scores doubt a label by themselves. Nets
// that were trained through rates predict the true label, and doubt the observed one through these rates.
func TestOutOfFold_AuditsThroughTheRatesOfTheNets(t *testing.T) {
	r := found(t, 2)
	set := r.Data.Train
	audit := func(logits, q01, q10 []float32) string {
		s := &labelScores{}
		for bag := range set.Len() {
			s.add(bag, set.Labels.Uint8s()[2*bag:2*bag+2], logits[2*bag:2*bag+2], q01, q10)
		}
		a, err := s.audit(set, false, fromOutOfFold)
		expect.OK(t, err)
		return fmt.Sprintf("%+v", *a)
	}
	q01, q10 := []float32{.3, .2}, []float32{.1, leastRate}
	for arm, c := range map[Name]struct{ want, other string }{
		Stage1:     {audit(r.plain.logits, nil, nil), audit(r.plain.logits, q01, q10)},
		HeldRates:  {audit(r.noisy.logits, q01, q10), audit(r.noisy.logits, nil, nil)},
		SoftLabels: {audit(r.noisy.logits, q01, q10), audit(r.noisy.logits, nil, nil)},
	} {
		if c.want == c.other {
			t.Fatalf("%s: the audit is the same with rates and without: %s", arm, c.want)
		}
		if a := planOf(t, r, arm, nil).audit; a == nil || fmt.Sprintf("%+v", *a) != c.want {
			t.Errorf("%s: audit %+v, want %s", arm, a, c.want)
		}
	}
}

// A rival trains for as long as both stages, whether epochs or steps end them.
func TestBothStages_AddsTheirLimits(t *testing.T) {
	c := BothStages(train.Config{Stage1Epochs: 8, Stage2Epochs: 3, MaxSteps: 50})
	if c.Stage1Epochs != 11 || c.MaxSteps != 100 {
		t.Errorf("%d epochs and %d steps, want 11 and 100", c.Stage1Epochs, c.MaxSteps)
	}
}

// The true labels are not known: baseline-early ends by the loss on noisy ones, whatever the configuration
// judges the best checkpoint by.
func TestBaselineEarly_EndsByTheLossOfObservedLabels(t *testing.T) {
	data := &dataset.Splits{Train: namedSet(t, 7), Validation: namedSet(t, 5)}
	s := Settings{Arm: BaselineEarly, Recipe: Config{Form: Paper}, Train: train.ScenesPreset()}
	s.Train.Stage1Epochs, s.Train.Stage2Epochs, s.Train.MaxSteps = 8, 3, 0
	s.Train.BestBy, s.Train.KeepBest, s.Train.EvaluateEpochs, s.Train.EvaluateSteps = "true_map", 0, 0, 7
	for patience, want := range map[int]int{0: 11, 2: 2} { // 0: to the limit, and back
		s.Train.Patience = patience
		p, err := MakePlan(t.Context(), &s, nil, &fakeTrainer{}, data, t.TempDir(), "")
		expect.OK(t, err)
		if c := p.Config; c.BestBy != "loss" || c.Patience != want || c.KeepBest != 1 || c.EvaluateEpochs != 1 ||
			c.EvaluateSteps != 0 || c.Stage1Epochs != 11 {
			t.Errorf("patience %d: best by %s with patience %d, %d kept, validated every %d epochs and %d steps, for %d epochs",
				patience, c.BestBy, c.Patience, c.KeepBest, c.EvaluateEpochs, c.EvaluateSteps, c.Stage1Epochs)
		}
	}
}

// An audit asks how well wrong labels are found by who does not know them. The arm that learns the truth does.
func TestJudge_AuditsNoArmThatKnowsTheTruth(t *testing.T) {
	backend, err := kernels.OpenCPU(kernels.CPUConfig{Threads: 1})
	expect.OK(t, err)
	defer backend.Close()
	net, err := model.New(model.MLP(1, 2, []int{3}), backend)
	expect.OK(t, err)
	defer net.Close()
	expect.OK(t, net.Init(model.InitConfig{Seed: 1, ClassifierDeviation: 1, ClassifierBias: []float32{0}}))
	data := &dataset.Splits{Train: namedSet(t, 7), Test: namedSet(t, 5)}
	for arm, audited := range map[Name]bool{Baseline: true, ForwardTrue: true, Clean: false} {
		j := &Judge{Arm: arm, Data: data, Loader: loader.DefaultConfig(), Batch: 4}
		judged, _, err := j.Judge(t.Context(), net, &Plan{})
		expect.OK(t, err)
		a := judged.Audit
		if (a != nil) != audited || audited && (a.From != FromOwn || !a.AP.Defined()) {
			t.Errorf("%s: audit %+v, want one: %t", arm, a, audited)
		}
	}
}

// If nets of folds have learned nothing, their best epoch says nothing of how long to train.
func TestStage1Epochs_ScoresWithoutInformation(t *testing.T) {
	r := &Recipe{plain: &round{loss: []float64{2.3, 2.4, 2.5}, best: 1},
		classes: &multiclass.Report{Input: &multiclass.Input{Rows: 9}, Model: &multiclass.Model{Chance: true}}}
	if got := r.stage1Epochs(); got != 3 {
		t.Errorf("%d epochs, want all 3", got)
	}
	if said := strings.Join(r.classRemarks(), " "); !strings.Contains(said, "no better than the shares") {
		t.Error(said)
	}
	r.classes.Chance = false
	if got := r.stage1Epochs(); got != 1 {
		t.Errorf("%d epochs, want the best, 1", got)
	}
}
