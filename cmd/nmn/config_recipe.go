package main

import (
	"slices"
	"strconv"
)

// settings are what the recipe and its arms take from the configuration.
func (c *config) settings() recipeSettings {
	return recipeSettings{Arm: c.Arm, MIL: c.Net.MIL, Stage1: c.Stage1, Rates: c.Rates, Recipe: c.Recipe, Train: c.Train}
}

// choices are what somebody has chosen, by flag or file, that the default of the recipe depends on.
type choices struct {
	preset bool      // by name, not by the data
	arm    bool      // which one a run trains
	arms   []armName // it, or those of an experiment; nil for those that the recipe chooses
	start  bool      // of the noise model, which is then to be learned
	ofRun  bool      // the file is that of a run folder
}

// defaultForm is the recipe where nobody names one: estimate, but where a paper's protocol is asked for, or
// what was chosen does not need it or does not go with it. Runs of before there was a choice do not name one either.
func (c *config) defaultForm(chosen choices) recipeForm {
	paper := chosen.preset && (c.Preset == presetPaperCOCO || c.Preset == presetPaperMSRVTT)
	settings := c.settings()
	switch {
	case slices.ContainsFunc(chosen.arms, settings.needsEstimate):
		return recipeEstimate
	case paper, chosen.ofRun, len(chosen.arms) > 0, chosen.start, settings.ratesFile() != "", c.Stage1 != "", c.Train.MaxSteps > 0, c.Train.Overfit:
		return recipePaper
	}
	return recipeEstimate
}

// resolveRecipe fills in what the recipe leaves open.
func (c *config) resolveRecipe(chosen choices) {
	switch c.Recipe.Form {
	case "":
		c.Recipe.Form = c.defaultForm(chosen)
		c.byDefault = c.Recipe.Form == recipeEstimate && len(chosen.arms) == 0
	case recipeCrossFit:
		c.Recipe.Form = recipeEstimate
	}
	if c.Recipe.Form != recipeEstimate {
		return
	}
	if c.Rates == "" {
		c.Rates = ratesOnline
		if c.Data.Set == dataFeatures {
			c.Rates = ratesFolds + strconv.Itoa(defaultFolds)
		}
	}
	if !chosen.arm {
		c.Arm = armRS
		if settings := c.settings(); settings.folds() == 0 {
			c.Arm = armRN
		}
	}
}

// settle goes back to the plain form where nobody has asked for estimated rates and the data cannot tell
// them, and says why it did; empty where it did not.
func (c *config) settle(d *dataSets) (why string) {
	settings := c.settings()
	if why = settings.inestimable(d); !c.byDefault || why == "" {
		return ""
	}
	c.byDefault, c.Recipe.Form, c.Rates, c.Arm = false, recipePaper, "", armFD
	return why
}
