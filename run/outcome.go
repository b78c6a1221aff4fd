package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"

	"nmn/internal/durable"
	"nmn/internal/origin"
	"nmn/labels"
	"nmn/labels/inject"
	"nmn/loader/dataset"
	"nmn/recipe"
	"nmn/report"
	"nmn/train"
)

// Report describes a run for reports.
func (o *Outcome) Report(c *Config, name string) (*report.Run, error) {
	text, err := c.YAML()
	if err != nil {
		return nil, err
	}
	r := &report.Run{
		Name: name, Dataset: string(c.Data.Set), Arm: string(o.Arm), ArmTitle: o.Arm.Title(false),
		ArmPlace: o.Arm.Place(), MIL: o.MIL, Noise: o.Noise, NoiseKind: o.NoiseKind.Remark(), Flips: o.Flips,
		Augment: c.Train.Augmentations(), Seed: o.Seed, Start: c.startOf(o.Arm), Level: c.level(),
		PaperData: c.paperData(o), Result: o.Evaluation,
		ThresholdFrom: o.PlugInFrom, Audit: o.Audit, Epochs: epochsOf(o.epochs, o.Before), Config: string(text),
		Rates: o.Evaluation.NoiseRates(), Split: o.Split, RateRemarks: o.RateRemarks, RatesHeld: o.RatesHeld,
		Captions: o.Captions, Weights: c.weightsText(), Features: o.Backbone.String(), LeftOut: o.LeftOut,
		Samples: c.Data.Samples(), NotMeasured: o.NotMeasured, Transition: o.Transition,
	}
	return r, nil
}

// weightsText says which weights the model has, if they are not the weights of its last step.
func (c *Config) weightsText() string {
	if c.Train.EMA == 0 {
		return ""
	}
	return fmt.Sprintf("averages of all steps, of decay %g (EMA)", c.Train.EMA)
}

// startOf says where the noise model of an arm took its rates from. It does so on scenes, where tables show
// arms without knowledge of the noise next to arms that start near its true rates.
func (c *Config) startOf(a recipe.Name) string {
	informed := train.InformedNoise()
	switch {
	case !c.Data.Embedded():
		return ""
	case a == recipe.HeldRates && c.Settings().FromTraining():
		return "rates estimated"
	case (a == recipe.FI || a == recipe.FD) && c.Recipe.Start:
		return "estimated start"
	case (a == recipe.FI || a == recipe.FD) && slices.Equal(c.Train.Noise.Q01, informed.Q01) &&
		slices.Equal(c.Train.Noise.Q10, informed.Q10):
		return "informed start"
	}
	return ""
}

// paperData reports whether the published figures can be compared: the data are COCO's train2014 with 1,000
// words, or MSR-VTT with 1,087.
func (c *Config) paperData(o *Outcome) bool {
	if o.Evaluation == nil {
		return false
	}
	if c.Data.Set == dataset.MSRVTT {
		return c.Preset == PaperMSRVTTPreset && o.Evaluation.Classes == dataset.MSRVTTWords
	}
	return c.Data.Set == dataset.Captions && c.Preset == PaperCOCOPreset && o.Evaluation.Classes == 1000 &&
		filepath.Base(c.Data.Captions) == "captions_train2014.json" && c.Data.ValCaptions != ""
}

// Outcome is what a complete run has found.
type Outcome struct {
	Fingerprint string           `json:"fingerprint"` // of configuration and data
	Arm         recipe.Name      `json:"arm"`
	MIL         bool             `json:"mil"`
	Noise       float64          `json:"noise"`               // share of replaced captions
	NoiseKind   inject.Kind      `json:"noise_kind,omitzero"` // how they were replaced; empty for the paper's way
	Flips       labels.FlipRates `json:"flips"`               // of labels
	Seed        uint64           `json:"seed"`
	Steps       int              `json:"steps"`
	Loss        float64          `json:"loss"` // of the last step
	Seconds     float64          `json:"seconds"`
	Split       string           `json:"split"` // that was evaluated
	recipe.Judgement
	// Threshold is the probability from which to predict a label, found from out-of-fold scores; nil where
	// there are none.
	Threshold *float64 `json:"threshold,omitempty"`
	// Before is the length of stage 1, where the epochs of this run include it and it is fixed.
	Before   int             `json:"stage1_epochs,omitempty"`
	Build    Build           `json:"build"`
	Backbone *train.Backbone `json:"backbone,omitempty"` // the pretrained net that produced the features, or nil
	LeftOut  string          `json:"left_out,omitempty"` // says which training bags could not be used; empty for none
	// Start is what stage 2 began from; nil for arms of one stage. Recipe are the folds, scores and rates that the arm
	// was planned by.
	Start  *Start  `json:"start,omitempty"`
	Recipe []Start `json:"recipe,omitempty"`

	epochs []EpochFigures // from a file of their own; nil if none were asked for
	shown  *report.Scored // for the file alone: see ReadShown
}

// Start is a file that a run began from, as it was read: the checkpoint of stage 1, or one of the recipe.
type Start struct {
	File   string `json:"file"` // from the run folder
	SHA256 string `json:"sha256"`
}

// startOf is the checkpoint that a run in a folder began from; nil for none.
func startOf(dir, file, digest string) *Start {
	if digest == "" {
		return nil
	}
	if relative, err := filepath.Rel(dir, file); err == nil {
		file = relative
	}
	return &Start{File: file, SHA256: digest}
}

func (s *Start) digest() string {
	if s == nil {
		return ""
	}
	return s.SHA256
}

// began is a digest of what a run began from, a stage 1 and a recipe; empty for neither.
func began(start *Start, planned []Start) string {
	if len(planned) == 0 {
		return start.digest()
	}
	all := sha256.New()
	fmt.Fprintln(all, start.digest())
	for _, file := range planned {
		fmt.Fprintln(all, filepath.Base(file.File), file.SHA256)
	}
	return hex.EncodeToString(all.Sum(nil))
}

// same reports whether the file is there as it was. One that was removed, or is not known, is taken for the same.
func (s *Start) same(ctx context.Context, dir string, d *dataset.Splits) (bool, error) {
	if s == nil {
		return true, nil
	}
	path := s.File
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if !durable.Exists(path) {
		return true, nil
	}
	now, err := d.Beside(ctx, []origin.Place{{Name: "start", Path: path}})
	return err == nil && now[0].Digest == s.SHA256, err
}

// ReadOutcome reads the result of a folder; nil if there is none.
func ReadOutcome(dir string) (*Outcome, error) { return loadResult[Outcome](dir) }

func loadResult[T any](dir string) (*T, error) {
	return durable.LoadJSON[T](filepath.Join(dir, ResultFile), "remove the file to evaluate again")
}

// Unestimated are the words whose noise rates were not estimated, each with the remark that says why; nil where the run
// says nothing of them.
func (o *Outcome) Unestimated() map[string]string {
	if o == nil || o.Evaluation == nil {
		return nil
	}
	words := map[string]string{}
	for _, w := range o.Evaluation.Words {
		if w.RateRemark != "" {
			words[w.Word] = w.RateRemark
		}
	}
	return words
}

func (o *Outcome) write(dir string) error {
	return durable.SaveJSON(filepath.Join(dir, ResultFile), struct {
		*Outcome
		Shown *report.Scored `json:"shown,omitempty"`
	}{o, o.shown})
}

// ReadShown reads what the page of an experiment shows of a run next to others. It returns nil for a run that
// is not complete, or whose set has no labels.
func ReadShown(dir string) (*report.Scored, error) {
	result, err := loadResult[struct {
		Shown *report.Scored `json:"shown"`
	}](dir)
	if result == nil {
		return nil, err
	}
	return result.Shown, nil
}
