package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// recipeForm says how stage 2 comes by its noise model.
type recipeForm string

const (
	recipePaper    recipeForm = "paper"    // it starts somewhere and is learned with the net
	recipeCrossFit recipeForm = "crossfit" // rates estimated from scores of nets that have not seen the bag, then held
)

// recipeConfig is the recipe of the noise model.
type recipeConfig struct {
	// Form is empty until a configuration is resolved; then it is said, for the usual one may change.
	Form recipeForm `yaml:"form,omitempty"`
	// FoldEpochs is how long the nets of folds are trained, 0 for 15.
	FoldEpochs int `yaml:"fold_epochs,omitempty"`
	// Epochs of stage 2 of the arms r-n and r-s, 0 for those that the recipe finds.
	Epochs int `yaml:"epochs,omitempty"`
	// Floor raises the rates as far as the labels let them, and has r-s believe the net half as much as
	// the label: for noise that depends on the sample.
	Floor bool `yaml:"floor,omitempty"`
}

// Where rates come from, as --rates has it; anything else is a file.
const (
	ratesOnline = "online"
	ratesFolds  = "folds:"
)

const (
	usualFolds      = 5
	usualFoldEpochs = 15
	softEpochs      = 3 // of r-s: more memorise what is left of the noise in the targets
)

func (r recipeConfig) foldEpochs() int {
	if r.FoldEpochs == 0 {
		return usualFoldEpochs
	}
	return r.FoldEpochs
}

func recipeFlags(cmd *cobra.Command, c *config) {
	r := under(cmd, "Noise model")
	enum(r, &c.Recipe.Form, "nmn-recipe", "`how` stage 2 comes by its noise model: crossfit, estimated from scores of bags that were not learned and held "+
		"(docs/audit.md), or paper, learned from a start (default crossfit; paper for presets of papers, and where an arm or a start is named that does not need it)", recipePaper, recipeCrossFit)
	r.string(&c.Rates, "rates", "`source` of the rates: a file with those of each word (word, q01, q10, as in q.csv); with --nmn-recipe crossfit also "+
		"folds:N (for features; default folds:5) or online, from scores of the first epoch (default for pictures)")
	_ = cmd.MarkFlagFilename("rates", "csv")
	r.int(&c.Recipe.FoldEpochs, "fold-epochs", "crossfit: `epochs` of the nets of folds, of which the one with the least out-of-fold loss counts; 0 for 15")
	r.int(&c.Recipe.Epochs, "recipe-epochs", "crossfit: `epochs` of stage 2 of the arms r-n and r-s; 0 for those of the least out-of-fold loss, and 3")
	r.bool(&c.Recipe.Floor, "rates-floor", "crossfit: raise the rates as far as the labels let them, and learn means of belief and score, "+
		"for noise that is suspected to depend on the bag")
}

func (c *config) crossFit() bool { return c.Recipe.Form == recipeCrossFit }

// folds is their number, 0 where the rates do not come from folds.
func (c *config) folds() int {
	number, ok := strings.CutPrefix(c.Rates, ratesFolds)
	if !ok || !c.crossFit() {
		return 0
	}
	n, _ := strconv.Atoi(number) // validated
	return n
}

// estimated tells whether rates come from training itself, not from a file.
func (c *config) estimated() bool {
	return c.Rates == "" || c.Rates == ratesOnline || strings.HasPrefix(c.Rates, ratesFolds)
}

// ratesFile is the file that rates are taken from, empty for none.
func (c *config) ratesFile() string {
	if c.estimated() {
		return ""
	}
	return c.Rates
}

// said is what somebody has said that the recipe depends on, by flag or file.
type said struct {
	preset bool      // by name, not by the data
	arm    bool      // which one a run trains
	arms   []armName // it, or those of an experiment; nil for those that the recipe chooses
	start  bool      // of the noise model, which is then to be learned
	ofRun  bool      // the file is that of a run folder
}

// needsEstimate tells whether an arm cannot be without estimated rates.
func (c *config) needsEstimate(a armName) bool {
	return a == armRN && c.ratesFile() == "" || a == armRS || a == armPruned || a == armForward && c.ratesFile() == ""
}

// usualForm is the recipe where nobody names one: crossfit, but where a paper's protocol is asked for, or
// what was said does not need it or does not go with it. Runs of before there was a choice do not name one either.
func (c *config) usualForm(s said) recipeForm {
	paper := s.preset && (c.Preset == presetPaperCOCO || c.Preset == presetPaperMSRVTT)
	switch {
	case slices.ContainsFunc(s.arms, c.needsEstimate):
		return recipeCrossFit
	case paper, s.ofRun, len(s.arms) > 0, s.start, c.ratesFile() != "", c.Stage1 != "", c.Train.MaxSteps > 0, c.Train.Overfit:
		return recipePaper
	}
	return recipeCrossFit
}

// resolveRecipe fills in what the recipe leaves open.
func (c *config) resolveRecipe(s said) {
	if c.Recipe.Form == "" {
		c.Recipe.Form = c.usualForm(s)
		c.usual = c.crossFit() && len(s.arms) == 0
	}
	if !c.crossFit() {
		return
	}
	if c.Rates == "" {
		c.Rates = ratesOnline
		if c.Data.Set == dataFeatures {
			c.Rates = ratesFolds + strconv.Itoa(usualFolds)
		}
	}
	if !s.arm {
		c.Arm = armRS
		if c.folds() == 0 {
			c.Arm = armRN
		}
	}
}

func (c *config) validateRecipe() error {
	r := c.Recipe
	switch {
	case r.Form != recipePaper && r.Form != recipeCrossFit:
		return fmt.Errorf("recipe.form is %q, want paper or crossfit", r.Form)
	case r.FoldEpochs < 0 || r.FoldEpochs > 1000 || r.Epochs < 0 || r.Epochs > 1<<20:
		return fmt.Errorf("recipe.fold_epochs is %d and recipe.epochs %d, want 0 to 1000 and at least 0", r.FoldEpochs, r.Epochs)
	case r.Floor && (!c.crossFit() || !c.estimated()):
		return errors.New("recipe.floor raises rates that are estimated, with --nmn-recipe crossfit and no file of rates")
	case !c.crossFit() && (c.Arm == armRN || c.Arm == armRS):
		return fmt.Errorf("arm is %s, which belongs to --nmn-recipe crossfit", c.Arm)
	case c.Arm == armForward && !c.crossFit() && c.ratesFile() == "":
		return errors.New("arm forward learns through rates that are known before: give --nmn-recipe crossfit, or --rates FILE")
	case c.Arm == armPruned && c.folds() == 0:
		return errors.New("arm pruned leaves out what nets of folds believe wrong: give --nmn-recipe crossfit --rates folds:5")
	case !c.crossFit() && c.Rates != "" && c.estimated():
		return fmt.Errorf("rates are %s, which belongs to --nmn-recipe crossfit", c.Rates)
	case !c.crossFit():
		return nil
	}
	return c.validateCrossFit()
}

func (c *config) validateCrossFit() error {
	number, folds := strings.CutPrefix(c.Rates, ratesFolds)
	if n, err := strconv.Atoi(number); folds && (err != nil || n < 2 || n > 1000) {
		return fmt.Errorf("rates are %q, want folds:N with 2 to 1000 folds", c.Rates)
	}
	switch {
	case !folds && c.Arm == armRS:
		return fmt.Errorf("arm r-s learns from the nets of folds, and rates are %s: give --rates folds:5, or --arm r-n", c.Rates)
	case !c.estimated():
		return nil
	case c.Train.MaxSteps > 0:
		return errors.New("train.max_steps ends stages within epochs, which rates are estimated at the end of: leave out --max-steps")
	case c.Stage1 != "":
		return errors.New("stage1 names a checkpoint, and rates are estimated while stage 1 is trained: leave out --stage1, or name a file of rates")
	case c.Train.Overfit:
		return errors.New("overfit-one-batch teaches nothing about other bags: leave out --nmn-recipe")
	}
	return nil
}

// inestimable says why rates cannot be estimated on this data; empty where they can.
func (c *config) inestimable(d *dataSets) string {
	n, batch := d.train.Len(), c.Train.Batch(c.Net.MIL)
	switch {
	case c.Rates == ratesOnline && !d.train.Videos() && n <= batch:
		return fmt.Sprintf("%d bags are one batch of %d, and rates are told from the second half of the batches of an epoch: lower the batch size", n, batch)
	case c.folds() > 0 && d.train.Rows != nil:
		return "folds need all labels in memory: raise --label-memory, or give --rates online"
	case c.folds() > n:
		return fmt.Sprintf("%d bags cannot be dealt to %d folds: give --rates folds:N with a smaller N", n, c.folds())
	}
	return ""
}

// settle goes back to the plain form where nobody has asked for estimated rates and the data cannot tell
// them, and says whether it did.
func (c *config) settle(p *program, d *dataSets) bool {
	why := c.inestimable(d)
	if !c.usual || why == "" {
		return false
	}
	c.usual, c.Recipe.Form, c.Rates, c.Arm = false, recipePaper, "", armFD
	if !p.quiet {
		fmt.Fprintf(p.status, "recipe  paper: %s\n", why)
	}
	return true
}
