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
		if c.leftOpen("arm") {
			c.chooseExclusiveArm()
		}
		return c.checkExclusive()
	case dataset.AutoClasses:
	default:
		return nil
	}
	if why != "" && c.leftOpen(classesKey) { // it is no news that rows have several labels
		c.Data.Classes = ""
		c.Chosen = slices.DeleteFunc(slices.Clone(c.Chosen), func(o Choice) bool { return o.Key == classesKey })
		return nil
	}
	arm, chosen := c.Arm, slices.Clone(c.Chosen)
	if k := d.Train.Vocabulary.Len(); why == "" && k > mostExclusive {
		why = fmt.Sprintf("the matrix of confusions of %d classes is too large", k)
	}
	if why == "" {
		c.Data.Classes = dataset.Exclusive
		if c.leftOpen("arm") {
			c.chooseExclusiveArm()
		}
		if err := c.checkExclusive(); err != nil {
			why = err.Error()
		}
	}
	if why != "" {
		c.Data.Classes, c.Arm, c.Chosen = dataset.Multi, arm, chosen
		c.note(classesKey, why)
		return nil
	}
	c.note(classesKey, "each row has exactly one label")
	return nil
}

// mostExclusive is the most classes that exclude each other without having been asked for.
const mostExclusive = 4096

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
