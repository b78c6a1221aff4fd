package recipe

import (
	"errors"
	"slices"
	"strings"
	"testing"

	dense "gorgonia.org/tensor"

	"nmn/internal/expect"
	"nmn/internal/setting"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/model"
	"nmn/train"
)

// settings are good ones of a form, changed.
func settings(form Form, change func(*Settings)) *Settings {
	s := &Settings{Arm: Baseline, Recipe: Config{Form: form}}
	s.Train.Stage1Epochs, s.Train.Stage2Epochs = 8, 3
	if change != nil {
		change(s)
	}
	return s
}

// What does not go together is refused before anything is trained, and what does is not.
func TestSettings_Validate(t *testing.T) {
	for name, c := range map[string]struct {
		form   Form
		change func(*Settings)
		says   string // of the error; empty for none
	}{
		"paper":              {Paper, nil, ""},
		"estimate":           {Estimate, func(s *Settings) { s.NoiseRates = Online }, ""},
		"floor":              {Estimate, func(s *Settings) { s.Recipe.Floor, s.NoiseRates = true, Online }, ""},
		"floor of the paper": {Paper, func(s *Settings) { s.Recipe.Floor = true }, "recipe.floor"},
		"floor of a file": {Estimate, func(s *Settings) { s.Recipe.Floor, s.NoiseRates = true, "q.csv" },
			"recipe.floor"},
		"start":                    {Estimate, func(s *Settings) { s.Recipe.Start, s.NoiseRates = true, Online }, ""},
		"start of the paper":       {Paper, func(s *Settings) { s.Recipe.Start = true }, "recipe.start"},
		"start at a file":          {Estimate, func(s *Settings) { s.Recipe.Start, s.NoiseRates = true, "q.csv" }, "recipe.start"},
		"held-rates of the paper":  {Paper, func(s *Settings) { s.Arm = HeldRates }, "arm is held-rates"},
		"soft-labels of the paper": {Paper, func(s *Settings) { s.Arm = SoftLabels }, "arm is soft-labels"},
		"soft-labels online": {Estimate, func(s *Settings) { s.Arm, s.NoiseRates = SoftLabels, Online },
			"arm soft-labels learns from the nets of folds"},
		"soft-labels of folds":     {Estimate, func(s *Settings) { s.Arm, s.NoiseRates = SoftLabels, "folds:2" }, ""},
		"held-rates of a file":     {Estimate, func(s *Settings) { s.Arm, s.NoiseRates = HeldRates, "q.csv" }, ""},
		"forward without rates":    {Paper, func(s *Settings) { s.Arm = Forward }, "arm forward"},
		"forward with a file":      {Paper, func(s *Settings) { s.Arm, s.NoiseRates = Forward, "q.csv" }, ""},
		"forward with an estimate": {Estimate, func(s *Settings) { s.Arm, s.NoiseRates = Forward, Online }, ""},
		"pruned without folds":     {Estimate, func(s *Settings) { s.Arm, s.NoiseRates = Pruned, Online }, "arm pruned"},
		"pruned":                   {Estimate, func(s *Settings) { s.Arm, s.NoiseRates = Pruned, "folds:5" }, ""},
		"em":                       {Paper, func(s *Settings) { s.Arm = EM }, ""},
		"em by steps":              {Paper, func(s *Settings) { s.Arm, s.Train.MaxSteps = EM, 9 }, "arm em"},
		"em of one batch":          {Paper, func(s *Settings) { s.Arm, s.Train.Overfit = EM, true }, "arm em"},
		"em without stage 2":       {Paper, func(s *Settings) { s.Arm, s.Train.Stage2Epochs = EM, 0 }, "arm em"},
		"baseline by steps":        {Paper, func(s *Settings) { s.Train.MaxSteps = 9 }, ""},
		"online of the paper":      {Paper, func(s *Settings) { s.NoiseRates = Online }, "rates are online"},
		"folds of the paper":       {Paper, func(s *Settings) { s.NoiseRates = "folds:5" }, "rates are folds:5"},
		"a file of the paper":      {Paper, func(s *Settings) { s.NoiseRates = "q.csv" }, ""},
		"one fold":                 {Estimate, func(s *Settings) { s.NoiseRates = "folds:1" }, "2 to 1000 folds"},
		"a thousand folds":         {Estimate, func(s *Settings) { s.NoiseRates = "folds:1000" }, ""},
		"too many folds":           {Estimate, func(s *Settings) { s.NoiseRates = "folds:1001" }, "2 to 1000 folds"},
		"folds without a number":   {Estimate, func(s *Settings) { s.NoiseRates = "folds:x" }, "2 to 1000 folds"},
		"estimate by steps": {Estimate, func(s *Settings) { s.NoiseRates, s.Train.MaxSteps = Online, 9 },
			"train.max_steps"},
		"estimate from stage 1": {Estimate, func(s *Settings) { s.NoiseRates, s.Stage1 = Online, "best" },
			"stage1 names a checkpoint"},
		"a file from stage 1": {Estimate, func(s *Settings) { s.NoiseRates, s.Stage1 = "q.csv", "best" }, ""},
		"estimate of one batch": {Estimate, func(s *Settings) { s.NoiseRates, s.Train.Overfit = Online, true },
			"overfit-one-batch"},
	} {
		err := settings(c.form, c.change).Validate()
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}

// data are bags with labels alone.
func data(t *testing.T, bags int) *dataset.Splits {
	t.Helper()
	return &dataset.Splits{Train: namedSet(t, bags)}
}

// As many bags as folds can be dealt, and one more than a batch has a second batch.
func TestSettings_Inestimable(t *testing.T) {
	for name, c := range map[string]struct {
		bags   int
		change func(*Settings)
		says   string
		clips  bool // of two frames
	}{
		"as many folds as bags": {bags: 5, change: func(s *Settings) { s.NoiseRates = "folds:5" }},
		"more folds than bags": {bags: 4, change: func(s *Settings) { s.NoiseRates = "folds:5" },
			says: "4 rows cannot be dealt to 5 folds"},
		"two batches": {bags: 9, change: func(s *Settings) { s.NoiseRates, s.Train.BatchSize = Online, 8 }},
		"one batch": {bags: 8, change: func(s *Settings) { s.NoiseRates, s.Train.BatchSize = Online, 8 },
			says: "8 rows are one batch of 8"},
		"one": {bags: 1, change: func(s *Settings) { s.NoiseRates, s.Train.BatchSize = Online, 1 },
			says: "rates cannot be estimated from 1 row"},
		"one batch of whole clips": {bags: 5, clips: true, says: "5 clips are one batch of 8",
			change: func(s *Settings) { s.NoiseRates, s.Train.BatchSize = Online, 8 }},
		"two batches of frames": {bags: 5, clips: true,
			change: func(s *Settings) { s.NoiseRates, s.Train.BatchSize, s.ByFrame = Online, 8, true }},
		"a file": {bags: 1, change: func(s *Settings) { s.NoiseRates, s.Train.BatchSize = "q.csv", 8 }},
	} {
		d := data(t, c.bags)
		if c.clips {
			d.Train.Vectors, d.Train.Pictures, d.Train.Source = nil, twoFrames{}, twoFrames{}
		}
		if got := settings(Estimate, c.change).Inestimable(d); (got == "") != (c.says == "") ||
			!strings.Contains(got, c.says) {
			t.Errorf("%s: %q, want %q", name, got, c.says)
		}
	}
}

// twoFrames is a source of clips of two frames.
type twoFrames struct{ loader.Source }

func (twoFrames) Frames(int) int { return 2 }

// An arm that the data lack something for is refused, with the setting that chose it.
func TestSettings_Fits(t *testing.T) {
	for name, c := range map[string]struct {
		form   Form
		change func(*Settings)
		has    func(*dataset.Splits)
		says   string
	}{
		"baseline": {form: Paper},
		"rates of too few bags": {form: Estimate, change: func(s *Settings) { s.Arm, s.NoiseRates = HeldRates, "folds:9" },
			says: "arm held-rates needs rates that are estimated"},
		"baseline with too few bags for folds": {form: Estimate, change: func(s *Settings) { s.NoiseRates = "folds:9" }},
		"clean labels": {form: Paper, change: func(s *Settings) { s.Arm = Clean },
			says: "arm clean needs the true labels"},
		"clean labels that are known": {form: Paper, change: func(s *Settings) { s.Arm = Clean },
			has: func(d *dataset.Splits) { d.Train.Truth = d.Train.Labels }},
		"baseline-early": {form: Paper, change: func(s *Settings) { s.Arm = BaselineEarly },
			says: "arm baseline-early ends by labels"},
		"baseline-early with a validation set": {form: Paper, change: func(s *Settings) { s.Arm = BaselineEarly },
			has: func(d *dataset.Splits) { d.Validation = &loader.Set{} }},
		"baseline-early with folds": {form: Estimate, change: func(s *Settings) {
			s.Arm, s.NoiseRates = BaselineEarly, "folds:2"
		}},
	} {
		d := data(t, 7)
		d.Train.Truth = nil
		if c.has != nil {
			c.has(d)
		}
		err := settings(c.form, c.change).Fits(d)
		var mistake *setting.Error
		if (err == nil) != (c.says == "") || err != nil && (!errors.As(err, &mistake) || mistake.Key != "arm" ||
			!strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}

// Evidence goes with what learns labels plainly, and with nothing else.
func TestSettings_ValidateEvidence(t *testing.T) {
	learns := []Name{Stage1, Baseline, BaselineEarly}
	for _, a := range Names() {
		s := settings(Paper, func(s *Settings) { s.Arm = a })
		err := s.ValidateEvidence()
		var mistake *setting.Error
		if slices.Contains(learns, a) != (err == nil) || err != nil && (!errors.As(err, &mistake) ||
			mistake.Key != "arm" || !strings.Contains(err.Error(), "`data.evidence`")) {
			t.Errorf("%s: %v", a, err)
		}
	}
	for key, s := range map[string]*Settings{
		"recipe.form":     settings(Estimate, func(s *Settings) { s.NoiseRates = Online }),
		"train.loss.kind": settings(Paper, func(s *Settings) { s.Train.Loss = train.DefaultLoss(train.Asymmetric) }),
	} {
		var mistake *setting.Error
		if err := s.ValidateEvidence(); !errors.As(err, &mistake) || mistake.Key != key {
			t.Errorf("%s: %v", key, err)
		}
	}
	d := data(t, 7)
	d.Evidence = dense.New(dense.WithShape(7, 2), dense.Of(dense.Float32))
	expect.OK(t, settings(Paper, nil).Fits(d))
	noisy := settings(Paper, func(s *Settings) { s.Arm = FD })
	if err := noisy.Fits(d); err == nil || !strings.Contains(err.Error(), "noise model") {
		t.Errorf("nmn-fd fits data with evidence: %v", err)
	}
	for _, a := range learns[:2] {
		p, err := MakePlan(t.Context(), settings(Paper, func(s *Settings) { s.Arm = a }), nil, nil, d, "", "")
		if err != nil || p.Evidence != d.Evidence || p.Targets != nil {
			t.Errorf("%s: plan %+v, %v", a, p, err)
		}
	}
}

// The cost of folds is reported before they are trained.
func TestSettings_Cost(t *testing.T) {
	folds := settings(Estimate, func(s *Settings) { s.NoiseRates = "folds:4" })
	if got, want := folds.ExtraEpochs([]Name{Baseline}, nil), 1*3*15; got != want {
		t.Errorf("baseline costs %d epochs, want %d", got, want)
	}
	folds.Recipe.FoldEpochs = 6
	if got, want := folds.ExtraEpochs([]Name{Baseline, SoftLabels}, nil), 2*3*6; got != want {
		t.Errorf("soft-labels costs %d epochs, want %d", got, want)
	}
	if got := folds.Cost([]Name{SoftLabels}, nil); !strings.Contains(got, "4 folds, trained 2 × for 6 epochs") ||
		!strings.Contains(got, "36 epochs of stage 1 more") {
		t.Errorf("cost %q", got)
	}
	for form, rates := range map[Form]string{Paper: "", Estimate: "q.csv"} {
		s := settings(form, func(s *Settings) { s.NoiseRates = rates })
		if got := s.Cost([]Name{Baseline}, nil); got != "" || s.ExtraEpochs([]Name{Baseline}, nil) != 0 {
			t.Errorf("%s: cost %q", form, got)
		}
	}
	online := settings(Estimate, func(s *Settings) { s.NoiseRates, s.Train.Stage1Epochs = Online, 3 })
	if got := online.Cost([]Name{CaptionFilter}, nil); online.ExtraEpochs([]Name{Baseline, CaptionFilter}, nil) != 3 ||
		!strings.Contains(got, "stage 1 takes as many epochs again") ||
		strings.Contains(got, "extra epoch") {
		t.Errorf("caption-filter: %d epochs, %q", online.ExtraEpochs([]Name{Baseline, CaptionFilter}, nil), got)
	}
	few := [][][]int32{{{0}}, {{1}}} // one caption a bag
	filter := []Name{CaptionFilter}
	if got := online.Cost(filter, few); online.ExtraEpochs(filter, few) != 3+3 || online.ExtraEpochs(nil, few) != 0 ||
		!strings.Contains(got, "take the time of 3 epochs") {
		t.Errorf("caption-filter on one caption: %d epochs, %q", online.ExtraEpochs(filter, few), got)
	}
	if got, want := folds.ExtraEpochs(filter, few)-folds.ExtraEpochs(filter, nil), 3*6; got != want {
		t.Errorf("folds judge single captions for %d epochs, want %d", got, want)
	}
	if got := settings(Estimate, func(s *Settings) { s.NoiseRates = Online }).Cost(nil, nil); !strings.Contains(got,
		"without an extra epoch") {
		t.Errorf("online: %q", got)
	}
}

func TestArms_AreComplete(t *testing.T) {
	trained := map[string]bool{}
	for _, a := range Arms() {
		if a.Title == "" || a.Meaning == "" || strings.Contains(a.Meaning, "%") || trained[string(a.Name)] {
			t.Errorf("arm %+v lacks a title or a meaning, or stands there twice", a)
		}
		for _, mil := range []bool{false, true} {
			arm, err := a.Name.ForTraining(mil)
			if err != nil || arm.MIL != mil || arm.Stage != a.Stage || arm.Noise != a.Noise {
				t.Errorf("%s: trained as %+v (%v)", a.Name, arm, err)
			}
			if first := arm.First(); arm.Stage == 2 && !trained[strings.TrimSuffix(first.Name, "-mil")] {
				t.Errorf("%s starts from %s, which was not trained before", arm.Name, first.Name)
			}
		}
		if a.Rival && a.Stage != 1 || a.Loss != "" && a.Noise != model.NoNoise {
			t.Errorf("%s: stage %d, loss %q, noise %q", a.Name, a.Stage, a.Loss, a.Noise)
		}
		trained[string(a.Name)] = true
	}
	for _, name := range PaperArms() {
		if !slices.Contains(Names(), name) {
			t.Errorf("the paper's arm %s is not in the table", name)
		}
	}
	if _, err := Name("gan").ForTraining(false); err == nil || !strings.Contains(err.Error(), "nmn-fd") {
		t.Errorf("error %v does not list the arms", err)
	}
}
