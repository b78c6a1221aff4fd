package run

import (
	"fmt"
	"slices"

	"nmn/internal/setting"
	"nmn/loader/dataset"
	"nmn/model"
	"nmn/recipe"
)

// Exclusive reports whether each bag has exactly one of the classes, once the data are open.
func (c *Config) Exclusive() bool { return c.Data.Classes == dataset.Exclusive }

// model is the net's configuration for a number of classes, and for the kind of labels.
func (c *Config) model(classes, width int, noise model.NoiseMode) model.Config {
	m := c.Net.Model(classes, width, noise)
	m.Exclusive = c.Exclusive()
	return m
}

// classesKey is the key of the setting of classes.
const classesKey = "data.classes"

// leaveClassesOpen leaves it to the labels of pictures whether classes exclude each other. Captions, features and
// clips have several labels for each row unless the setting is given.
func (c *Config) leaveClassesOpen() {
	if c.Data.Set == dataset.Manifest {
		c.Data.Classes = dataset.AutoClasses
		c.note(classesKey, "the labels decide")
	}
}

// settleClasses decides whether classes exclude each other, and refuses what does not go with that.
func (c *Config) settleClasses(d *dataset.Splits) error {
	why := d.NotExclusive()
	switch c.Data.Classes {
	case dataset.Exclusive:
		if why != "" {
			return setting.Errorf(classesKey, "`data.classes` is exclusive, and %s: give `data.classes` multi", why)
		}
		return c.takeExclusive()
	case dataset.AutoClasses:
	default:
		return nil
	}
	if why != "" && c.LeftOpen(classesKey) { // it is no news that rows have several labels
		c.Data.Classes = ""
		c.forget(classesKey)
		return nil
	}
	arm, rates, of, chosen := c.Arm, c.NoiseRates, c.Recipe, slices.Clone(c.Chosen)
	if k := d.Train.Vocabulary.Len(); why == "" && k > mostExclusive {
		why = fmt.Sprintf("the matrix of confusions of %d classes is too large", k)
	}
	if why == "" {
		c.Data.Classes = dataset.Exclusive
		if err := c.takeExclusive(); err != nil {
			why = err.Error()
		}
	}
	if why != "" {
		c.Data.Classes, c.Arm, c.NoiseRates, c.Recipe, c.Chosen = dataset.Multi, arm, rates, of, chosen
		c.note(classesKey, why)
		return nil
	}
	c.note(classesKey, "each row has exactly one label")
	return nil
}

// mostExclusive is the most classes that exclude each other without having been asked for.
const mostExclusive = 4096

// takeExclusive makes the choices that go with classes that exclude each other, and refuses what does not.
func (c *Config) takeExclusive() error {
	if c.LeftOpen("arm") {
		c.chooseExclusiveArm()
	}
	c.chooseExclusiveRates()
	return c.checkExclusive()
}

// chooseExclusiveArm replaces an arm that does not train exclusive classes.
func (c *Config) chooseExclusiveArm() {
	if arm, _ := c.Arm.Arm(); arm.Exclusive {
		return
	}
	c.Arm = recipe.Baseline
	because := "it learns the labels as they are"
	if c.Recipe.Form == recipe.Estimate {
		c.Arm, because = recipe.HeldRates, "it learns through the estimated confusion of classes"
	}
	c.note("arm", because)
}

// chooseExclusiveRates takes the confusion of classes from nets of folds if the net starts from random weights. After
// one epoch such a net has learned too little of classes that look alike (docs/guide/classes.md).
func (c *Config) chooseExclusiveRates() {
	if c.NoiseRates != recipe.Online || !c.LeftOpen("noise_rates") || c.Net.Weights != "" {
		return
	}
	c.NoiseRates = recipe.FoldsOf + "2"
	c.note("noise_rates", "a net from random weights has learned too little after one epoch")
	if c.Recipe.Epochs == 0 && c.Train.Stage2Epochs > 0 {
		c.Recipe.Epochs = c.Train.Stage2Epochs
		c.note("recipe.epochs", "nets of folds that find it out take as long again")
	}
}

// checkExclusive refuses what does not go with classes that exclude each other.
func (c *Config) checkExclusive() error {
	for _, file := range []struct{ key, path string }{
		{"data.evidence", c.Data.Evidence}, {"data.verified", c.Data.Verified},
	} {
		if file.path != "" {
			return setting.Errorf(file.key, "`%s` is for classes that do not exclude each other: leave it out, or give "+
				"`data.classes` multi", file.key)
		}
	}
	return c.Settings().ValidateExclusive()
}
