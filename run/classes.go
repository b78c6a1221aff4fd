package run

import (
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

// settleClasses decides whether classes exclude each other, and refuses what does not go with that.
func (c *Config) settleClasses(d *dataset.Splits) error {
	const key = "data.classes"
	why := d.NotExclusive()
	switch c.Data.Classes {
	case dataset.Exclusive:
		if why != "" {
			return setting.Errorf(key, "`data.classes` is exclusive, and %s: give `data.classes` multi", why)
		}
		if c.leftOpen("arm") {
			c.chooseExclusiveArm()
		}
		return c.checkExclusive()
	case dataset.AutoClasses:
	default:
		return nil
	}
	c.Data.Classes = dataset.Exclusive
	if why == "" && c.leftOpen("arm") {
		c.chooseExclusiveArm()
	}
	if why == "" {
		if err := c.checkExclusive(); err != nil {
			why = err.Error()
		}
	}
	if why != "" {
		c.Data.Classes = dataset.Multi
		if c.leftOpen("arm") && c.Recipe.Form == recipe.Estimate {
			arm, because := c.RecipeArm()
			c.Arm = arm
			c.note("arm", because)
		}
		c.note(key, why)
		return nil
	}
	c.note(key, "each row has exactly one label")
	return nil
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

// checkExclusive refuses what does not go with classes that exclude each other.
func (c *Config) checkExclusive() error {
	if c.Data.Evidence != "" {
		return setting.Errorf("data.evidence", "`data.evidence` is for classes that do not exclude each other: leave it "+
			"out, or give `data.classes` multi")
	}
	settings := c.Settings()
	return settings.ValidateExclusive()
}
