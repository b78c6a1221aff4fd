package main

import (
	"context"
	"slices"

	"nmn/internal/setting"
	"nmn/model"
	"nmn/train"
)

// armName names an arm in configurations, flags and folders.
type armName string

// The arms of the paper: stage 1 alone, and three ways to go on from it.
const (
	armStage1 armName = "stage1"
	armStar   armName = "star" // VGG16*: more epochs without a noise model, the fair baseline
	armFI     armName = "nmn-fi"
	armFD     armName = "nmn-fd"
)

// The arms of the recipe, whose rates are estimated before and held: R-N learns through the noise model,
// R-S from what is believed of each label by nets that have not seen it.
const (
	armRN armName = "r-n"
	armRS armName = "r-s"
)

// armEM is the baseline of the paper's appendix, expectation-maximisation: from stage 1 on, every epoch learns from
// what was believed of each label before it, and the rates are found anew.
const armEM armName = "em"

// Rival arms: fresh nets that learn for as many epochs as both stages have together.
const (
	armStarEarly   armName = "star-early"   // star, ended where the loss on held-out noisy labels is least
	armForward     armName = "forward"      // through a transition matrix that is held (Patrini et al., 2017)
	armForwardTrue armName = "forward-true" // through the true one of the training labels
	armASL         armName = "asl"          // by the losses of these names
	armLLR         armName = "ll-r"
	armLLCt        armName = "ll-ct"
	armPruned      armName = "pruned" // without the labels that the out-of-fold audit believes wrong
	armClean       armName = "clean"  // from the true labels: the ceiling
)

// armEntry is a row of the tables: what is trained, from where, by which loss and through which noise model.
type armEntry struct {
	name armName
	// title is what tables call it; with MIL " + MIL" stands behind it.
	title string
	// meaning says what it is in a line; {stage1} stands for the length of stage 1, {stage2} for that of stage 2, both in
	// words such as "3 epochs".
	meaning string
	// stage is 1 for a net that is trained from its start, and 2 for one that goes on from stage 1.
	stage int
	// noise is the noise model that it learns through.
	noise model.NoiseMode
	// loss is the kind of a loss that belongs to the arm; empty for that of the configuration.
	loss string
	// rival is a net of its own that is trained for as long as both stages together.
	rival bool
	// taught arms know the true labels of the training set, or their noise rates.
	taught bool
	// plan completes what the arm is trained with; nil for the plain settings.
	plan func(*planner, context.Context) error
}

// armTable lists all arms in the order of tables. It is the only list of them: flags, help, reports, experiments and
// training take names and meanings from here.
func armTable() []armEntry {
	return []armEntry{
		{name: armStage1, title: "stage 1", stage: 1, noise: model.NoNoise, plan: (*planner).stage1,
			meaning: "the classifier alone on the noisy labels, {stage1}"},
		{name: armStar, title: "star", stage: 2, noise: model.NoNoise,
			meaning: "the same for {stage2} more: the fair baseline"},
		{name: armStarEarly, title: "star, in time", stage: 1, noise: model.NoNoise, rival: true, plan: (*planner).starEarly,
			meaning: "star, ended where the loss on held-out noisy labels is least"},
		{name: armFI, title: "NMN-FI", stage: 2, noise: model.FeatureIndependent,
			meaning: "{stage2} more with a noise model that is the same for all pictures"},
		{name: armFD, title: "NMN-FD", stage: 2, noise: model.FeatureDependent,
			meaning: "{stage2} more with a noise model that sees each picture's features"},
		{name: armRN, title: "R-N", stage: 2, noise: model.FeatureIndependent, plan: (*planner).rn,
			meaning: "more with a noise model whose rates were estimated from the noisy labels alone, and are held"},
		{name: armRS, title: "R-S", stage: 2, noise: model.FeatureIndependent, plan: (*planner).rs,
			meaning: "more on what nets that have not seen a label believe of it"},
		{name: armEM, title: "EM", stage: 2, noise: model.FeatureIndependent, plan: (*planner).em,
			meaning: "{stage2} more on beliefs that are renewed after each, the rates with them (expectation-maximisation)"},
		{name: armForward, title: "forward", stage: 1, noise: model.FeatureIndependent, rival: true, plan: (*planner).forward,
			meaning: "from the start through the rates of the recipe or file, held (forward correction)"},
		{name: armForwardTrue, title: "forward, true T", stage: 1, noise: model.FeatureIndependent, rival: true, taught: true,
			plan: (*planner).forwardTrue, meaning: "from the start through the true rates, held"},
		{name: armASL, title: "ASL", stage: 1, noise: model.NoNoise, rival: true, loss: train.Asymmetric,
			meaning: "from the start by the asymmetric loss"},
		{name: armLLR, title: "LL-R", stage: 1, noise: model.NoNoise, rival: true, loss: train.RejectLarge,
			meaning: "from the start, the labels 0 with the largest losses left out"},
		{name: armLLCt, title: "LL-Ct", stage: 1, noise: model.NoNoise, rival: true, loss: train.CorrectLarge,
			meaning: "from the start, the labels 0 with the largest losses taken as 1"},
		{name: armPruned, title: "pruned", stage: 1, noise: model.NoNoise, rival: true, plan: (*planner).pruned,
			meaning: "from the start without the labels that nets of folds believe wrong"},
		{name: armClean, title: "clean labels", stage: 1, noise: model.NoNoise, rival: true, taught: true, plan: (*planner).clean,
			meaning: "from the start on the true labels: the ceiling"},
	}
}

// armNames are those of all arms, in the order of tables.
func armNames() []armName {
	all := armTable()
	names := make([]armName, len(all))
	for i, a := range all {
		names[i] = a.name
	}
	return names
}

// paperArms are those of the paper's tables.
func paperArms() []armName { return []armName{armStage1, armStar, armFI, armFD} }

// entry is the arm of a name, and whether there is one.
func (a armName) entry() (armEntry, bool) {
	all := armTable()
	i := slices.IndexFunc(all, func(e armEntry) bool { return e.name == a })
	if i < 0 {
		return armEntry{}, false
	}
	return all[i], true
}

// place is where an arm stands in tables; unknown ones come last.
func (a armName) place() int {
	all := armTable()
	if i := slices.IndexFunc(all, func(e armEntry) bool { return e.name == a }); i >= 0 {
		return i
	}
	return len(all)
}

// title is what tables call an arm; an unknown one is called by its name.
func (a armName) title(mil bool) string {
	title := string(a)
	if e, ok := a.entry(); ok {
		title = e.title
	}
	if mil {
		title += " + MIL"
	}
	return title
}

// folder is what the run folder of an arm is called among those of others.
func (a armName) folder(mil bool) string { return string(a) + suffixOf(mil) }

// rival reports whether an arm trains a net of its own for as long as both stages, instead of going on from
// stage 1.
func (a armName) rival() bool {
	e, _ := a.entry()
	return e.rival
}

// noiseMode is the noise model that an arm trains through, or holds.
func (a armName) noiseMode() model.NoiseMode {
	if e, ok := a.entry(); ok {
		return e.noise
	}
	return model.NoNoise
}

// trained is the arm as package train knows it.
func (a armName) trained(mil bool) (train.Arm, error) {
	e, ok := a.entry()
	if !ok {
		return train.Arm{}, setting.Errorf("arm", "arm is %q, want one of %q", a, armNames())
	}
	return train.Arm{Name: a.folder(mil), MIL: mil, Stage: e.stage, Noise: e.noise}, nil
}

func suffixOf(mil bool) string {
	if mil {
		return "-mil"
	}
	return ""
}
