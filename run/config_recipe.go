package run

import (
	"slices"
	"strconv"

	"nmn/loader/dataset"
	"nmn/recipe"
	"nmn/report"
)

// Settings are what the recipe and its arms take from the configuration.
func (c *Config) Settings() recipe.Settings {
	return recipe.Settings{Arm: c.Arm, MIL: c.Net.MIL, Stage1: c.Stage1, Rates: c.Rates, Recipe: c.Recipe,
		Train: c.Train}
}

// choices are what somebody has chosen, by flag or file, that the default of the recipe depends on.
type choices struct {
	preset bool          // by name, not by the data
	arm    bool          // which one a run trains
	arms   []recipe.Name // it, or those of an experiment; nil for those that the recipe chooses
	start  bool          // of the noise model, which is then to be learned
	ofRun  bool          // the file is that of a run folder
}

// defaultForm is the recipe where nobody names one: estimate, but where a paper's protocol is asked for, or
// what was chosen does not need it or does not go with it. Runs of before there was a choice do not name one either.
func (c *Config) defaultForm(chosen choices) recipe.Form {
	paper := chosen.preset && (c.Preset == PaperCOCOPreset || c.Preset == PaperMSRVTTPreset)
	settings := c.Settings()
	switch {
	case slices.ContainsFunc(chosen.arms, settings.NeedsEstimate):
		return recipe.Estimate
	case paper, chosen.ofRun, len(chosen.arms) > 0, c.Data.Evidence != "", chosen.start,
		settings.RatesFile() != "", c.Stage1 != "", c.Train.MaxSteps > 0, c.Train.Overfit:
		return recipe.Paper
	}
	return recipe.Estimate
}

// resolveRecipe fills in what the recipe leaves open.
func (c *Config) resolveRecipe(chosen choices) {
	if c.Recipe.Form == "" {
		c.Recipe.Form = c.defaultForm(chosen)
		c.byDefault = c.Recipe.Form == recipe.Estimate && len(chosen.arms) == 0
	}
	if c.Recipe.Form != recipe.Estimate {
		if c.Data.Evidence != "" && !chosen.arm {
			c.Arm = recipe.Star // with what says itself how far it is to be trusted there is no noise to model
		}
		return
	}
	if c.Rates == "" {
		c.Rates = recipe.Online
		if c.onFeatures() {
			c.Rates = recipe.FoldsOf + strconv.Itoa(recipe.DefaultFolds)
		}
	}
	if c.Recipe.Captions == "" && !chosen.ofRun && c.tellsCaptionsApart() {
		c.Recipe.Captions = recipe.Witness
	}
	if !chosen.arm {
		c.Arm = c.recipeArm()
	}
}

// tellsCaptionsApart reports whether captions can be witnesses: labels come from nothing else, and each bag has its own.
func (c *Config) tellsCaptionsApart() bool {
	d := &c.Data
	return d.Captioned() && d.Flips == "" && d.FlipRates == "" && c.level() != report.FrameLevel
}

// recipeArm is the arm of the recipe.
func (c *Config) recipeArm() recipe.Name {
	settings := c.Settings()
	switch {
	case c.Recipe.Captions == recipe.Witness:
		return recipe.C
	case settings.Folds() > 0:
		return recipe.RS
	}
	return recipe.RN
}

// Settle goes back to the plain form where nobody has asked for estimated rates and they cannot be estimated from the
// data. It returns the reason, which is empty where it did not go back.
func (c *Config) Settle(d *dataset.Splits) (why string) {
	if c.byDefault && c.Recipe.Captions == recipe.Witness && d.Train.Said == nil { // not in memory
		c.Recipe.Captions = recipe.Labels
		c.Arm = c.recipeArm()
	}
	settings := c.Settings()
	if why = settings.Inestimable(d); !c.byDefault || why == "" {
		return ""
	}
	c.byDefault, c.Recipe.Form, c.Rates, c.Arm = false, recipe.Paper, "", recipe.FD
	return why
}
