package run

import (
	"fmt"
	"slices"
	"strconv"

	"nmn/format/weights"
	"nmn/loader/dataset"
	"nmn/loader/picture"
	"nmn/model"
	"nmn/recipe"
	"nmn/report"
	"nmn/run/folder"
	"nmn/train"
)

// DescribeChoices says which settings were chosen, with values and reasons, a line each.
func (c *Config) DescribeChoices() (lines []string) {
	values := folder.Flatten(c)
	for _, o := range c.Chosen {
		lines = append(lines, fmt.Sprintf("%s = %s: %s", o.Key, values[o.Key], o.Why))
	}
	return lines
}

// given are what was given, by flag or file, as far as choices depend on it.
type given struct {
	preset bool          // by name, not by the data
	net    bool          // or the preset, which has one
	arm    bool          // which one a run trains
	arms   []recipe.Name // it, or the arms of an experiment; nil if the recipe chooses them
	start  bool          // of the noise model, which is then to be learned
	// setting reports whether a setting was given, by its key; nil only where a preset is named.
	setting func(key string) bool
}

// choose fills in what is left open, as far as the configuration alone allows. What depends on the labels or on the
// device follows in Session.Prepare.
func (c *Config) choose(g given) {
	if !g.net {
		c.chooseNet()
	}
	c.normalize()
	c.settleDecay()
	c.choosePictures(g)
	c.chooseRecipe(g)
}

// chooseNet takes a residual net from the file of its weights. Whatever is wrong with the file is reported when it is
// read.
func (c *Config) chooseNet() {
	if c.Net.Weights == "" || c.Net.Arch == NetMLP {
		return
	}
	file, err := weights.Open(c.Net.Weights)
	if err != nil {
		return
	}
	if name := model.RecogniseResNet(file); name != "" {
		c.Net.Arch = NetName(name)
		c.note("net.arch", "the weights belong to this net")
	}
	_ = file.Close() // it was only read
}

// choosePictures chooses how pictures are read: upright and with a filter that smooths, or by a paper's protocol as
// they are stored and with one that does not. Unless a preset is named, half of them are mirrored and the weights are
// averaged, as with scenes (docs/guide/training.md says what was measured).
func (c *Config) choosePictures(g given) {
	if !c.Data.Decodes() {
		return
	}
	resize, orientation, why := picture.FilterAntialias, picture.OrientationApply, "as people see the picture"
	if g.preset && isPaper(c.Preset) {
		resize, orientation, why = picture.FilterBilinear, picture.OrientationIgnore, "the paper's protocol"
	}
	if !g.preset && isPaper(c.Preset) {
		if !g.setting("train.flip") {
			c.Train.Flip = true
			c.note("train.flip", "a mirrored picture shows the same")
		}
		if !g.setting("train.ema") {
			c.Train.EMA = train.ScenesPreset().EMA
			c.note("train.ema", "averages of the weights learn less of wrong labels by heart")
		}
	}
	if c.Data.Resize == "" {
		c.Data.Resize = resize
		c.note("data.resize", why)
	}
	if c.Data.Orientation == "" {
		c.Data.Orientation = orientation
		c.note("data.orientation", why)
	}
}

// form is the recipe if none is named, and why: estimate, unless a paper's protocol is asked for, or what was given
// does not need it or does not go with it.
func (c *Config) form(g given) (form recipe.Form, why string) {
	settings := c.Settings()
	if slices.ContainsFunc(g.arms, settings.NeedsEstimate) {
		return recipe.Estimate, "the arm needs estimated rates"
	}
	for _, o := range []struct {
		holds bool
		why   string
	}{
		{g.preset && isPaper(c.Preset), "the preset is a paper's protocol"},
		{len(g.arms) > 0, "the arm needs no estimated rates"},
		{c.Data.Evidence != "", "evidence says itself how far it is to be trusted"},
		{g.start, "the noise model's start is given"},
		{settings.RatesFile() != "", "rates are given"},
		{c.Stage1 != "", "stage 1 is given"},
		{c.Train.MaxSteps > 0, "`train.max_steps` ends training"},
		{c.Train.Overfit, "training is to learn by heart"},
	} {
		if o.holds {
			return recipe.Paper, o.why
		}
	}
	return recipe.Estimate, "how noisy the labels are is not known"
}

// chooseRecipe fills in what the recipe leaves open.
func (c *Config) chooseRecipe(g given) {
	setArm := func(arm recipe.Name, why string) {
		if g.arm {
			return
		}
		if c.Arm = arm; len(g.arms) == 0 { // else what is trained is known
			c.note("arm", why)
		}
	}
	if c.Recipe.Form == "" {
		var why string
		c.Recipe.Form, why = c.form(g)
		c.note("recipe.form", why)
	}
	if c.Recipe.Form != recipe.Estimate {
		if c.Data.Evidence != "" {
			setArm(recipe.Baseline, "with evidence there is no noise to model")
		}
		return
	}
	if c.NoiseRates == "" {
		c.NoiseRates = recipe.Online
		why := "what the net predicts of a picture before it learns it costs no time"
		if c.OnFeatures() {
			c.NoiseRates, why = recipe.FoldsOf+strconv.Itoa(recipe.DefaultFolds), "nets on features are trained in seconds"
		}
		c.note("noise_rates", why)
	}
	if c.Recipe.Captions == "" && c.tellsCaptionsApart() {
		c.Recipe.Captions = recipe.Witness
		c.note("recipe.captions", "labels come from captions alone, and each caption can be judged")
	}
	setArm(c.RecipeArm())
}

// tellsCaptionsApart reports whether captions can be witnesses: labels come from nothing else, and each bag has its
// own.
func (c *Config) tellsCaptionsApart() bool {
	d := &c.Data
	return d.Captioned() && !c.Exclusive() && d.Flips == "" && d.FlipRates == "" && c.level() != report.FrameLevel
}

// RecipeArm is the arm of the recipe, and why.
func (c *Config) RecipeArm() (arm recipe.Name, why string) {
	settings := c.Settings()
	switch {
	case c.Recipe.Captions == recipe.Witness:
		return recipe.CaptionFilter, "it weights each caption by the probability that it is right"
	case c.Exclusive():
		return recipe.HeldRates, "it learns through the estimated confusion of classes"
	case settings.Folds() > 0:
		return recipe.SoftLabels, "it learns the posteriors of labels, by nets that have not seen them"
	}
	return recipe.HeldRates, "its noise model holds the estimated rates"
}

// FallBackToPaper goes back to the plain form if the recipe was left open and rates cannot be estimated from the data.
// It returns the reason, which is empty if it did not go back.
func (c *Config) FallBackToPaper(d *dataset.Splits) (why string) {
	if c.Recipe.Form != recipe.Estimate || !c.LeftOpen("recipe.form") || !c.LeftOpen("arm") {
		return ""
	}
	if c.Recipe.Captions == recipe.Witness && d.Train.CaptionsInUse == nil {
		c.Recipe.Captions = recipe.Labels
		c.note("recipe.captions", "captions are not held in memory")
		c.Arm, why = c.RecipeArm()
		c.note("arm", why)
	}
	settings := c.Settings()
	if why = settings.Inestimable(d); why == "" {
		return ""
	}
	c.Recipe.Form, c.NoiseRates, c.Arm = recipe.Paper, "", recipe.FD
	because := "the paper's noise model"
	if c.Exclusive() {
		c.Arm, because = recipe.Baseline, "it learns the labels as they are"
	}
	c.forget("noise_rates")
	c.note("recipe.form", why)
	c.note("arm", because)
	return why
}

// normalize makes empty lists nil: the two mean the same, and should be the same in files too. Clips get a
// number of frames if none is given. Multi is the default of classes, which files do not mention, except for data
// whose labels decide.
func (c *Config) normalize() {
	if c.Data.Classes == dataset.Multi && c.Data.Set != dataset.Manifest {
		c.Data.Classes = ""
	}
	c.Net.Depths, c.Net.Widths, c.Net.Hidden = noneIfEmpty(c.Net.Depths), noneIfEmpty(c.Net.Widths),
		noneIfEmpty(c.Net.Hidden)
	f := &c.Data.Features
	f.LabelColumns, f.Ignore = noneIfEmpty(f.LabelColumns), noneIfEmpty(f.Ignore)
	f.FeatureColumns = noneIfEmpty(f.FeatureColumns)
	c.Train.LearningRates, c.Train.Freeze = noneIfEmpty(c.Train.LearningRates), noneIfEmpty(c.Train.Freeze)
	painted := c.Data.Embedded()
	if c.Net.Arch.IsResNet() && painted && c.Net.InputSize == 0 {
		c.Net.InputSize = resNetScenes
	}
	if c.Net.Arch.IsResNet() && slices.Equal(c.Train.LearningRates, train.Paper().LearningRates) {
		c.Train.LearningRates = train.ClassifierRates("head.fc") // the last layer has another name
	}
	if c.Data.Set == dataset.MovingScenes && c.Data.Frames == 0 {
		c.Data.Frames = MovingFrames
	}
	if painted && c.Net.Backbone != "" && c.Data.TrainSize+c.Data.ValidationSize+c.Data.TestSize == 0 {
		quick := DefaultConfig() // the preset of features says nothing of scenes
		if c.Data.Set == dataset.MovingScenes {
			quick.MovingScenes(Quick)
		}
		d := &quick.Data
		c.Data.TrainSize, c.Data.ValidationSize, c.Data.TestSize = d.TrainSize, d.ValidationSize, d.TestSize
	}
}

// resNetScenes is the input of a residual net on painted scenes, whose pictures have 48 pixels: at twice the size 3×3
// cells are left of them.
const resNetScenes = 96

func noneIfEmpty[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}
