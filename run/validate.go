package run

import (
	"errors"
	"fmt"

	"nmn/internal/setting"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/model"
	"nmn/recipe"
	"nmn/report"
)

// Validate names the first field that is out of range.
func (c *Config) Validate() error {
	if err := setting.Check("", c); err != nil {
		return err
	}
	for _, check := range []func() error{c.validateNames, c.Data.Validate, c.validateNet, c.Train.Validate,
		c.Run.Validate, c.ValidateRecipe, c.validateVideo, c.validateAugment} {
		if err := check(); err != nil {
			var config *setting.Error
			if errors.As(err, &config) {
				return err
			}
			return &setting.Error{Reason: err}
		}
	}
	return nil
}

func (c *Config) validateNames() error {
	switch {
	case c.Arm == "":
		return fmt.Errorf("arm is empty, want %s", setting.Alternatives(recipe.Names()))
	case c.Size != Quick && c.Size != Full:
		return fmt.Errorf("size is %q, want quick or full", c.Size)
	case c.Net.Backbone != "" || c.Net.hasBackboneOptions():
		return c.validateBackbone()
	case c.Net.Arch.IsResNet() && (c.Net.FC6 != 0 || c.Net.FC7 != 0 || c.Net.FC6Kernel != 0 || c.Net.FC6Pad != 0 ||
		c.Net.Dropout > 0):
		return fmt.Errorf("net.fc6, fc7, fc6_kernel, fc6_pad and dropout are for nets with layers fc6 and fc7; net.arch %s "+
			"has one layer after its stages, fc: leave them out", c.Net.Arch)
	case (c.Net.Arch == NetMLP) != (c.Data.Set == dataset.Features):
		return fmt.Errorf("net.arch is %q and data.set is %q: the net mlp is for features (`data.features.train.features` "+
			"FILE), the others are for pictures", c.Net.Arch, c.Data.Set)
	case c.Net.Arch != NetMLP && len(c.Net.Hidden) > 0:
		return fmt.Errorf("net.hidden is %v: it is for the net mlp, on features", c.Net.Hidden)
	case c.Net.Arch == NetMLP && c.Net.forPictures():
		return errors.New("net.input_size, depths, widths, fc6, fc7, fc6_kernel and fc6_pad are for nets on pictures; the " +
			"net mlp has hidden layers (`net.hidden`)")
	case c.Net.MIL && c.Net.Arch == NetMLP:
		return errors.New("net.mil joins the cells of pictures: features have none; leave out `net.mil`")
	case c.Net.Weights == "" && c.Net.WeightsClassifier:
		return errors.New("net.weights_classifier is for a file to start from: name one (`net.weights` FILE)")
	}
	return nil
}

// forPictures reports whether anything is set that only a net on pictures has.
func (n *NetConfig) forPictures() bool {
	return n.InputSize != 0 || len(n.Depths)+len(n.Widths) > 0 || n.FC6 != 0 || n.FC7 != 0 || n.FC6Kernel != 0 ||
		n.FC6Pad != 0
}

func (c *Config) validateNet() error {
	return c.Net.Model(1, 1, c.Arm.Noise()).Validate()
}

// Validate names the first field that is out of range.
func (r *Resources) Validate() error {
	return setting.Check("run.", r)
}

// ValidateRecipe refuses settings of the recipe that do not go with each other or with the arm.
func (c *Config) ValidateRecipe() error {
	settings := c.Settings()
	if c.Data.Verified != "" && (!settings.Estimates() || settings.RatesFile() != "") {
		return setting.Errorf("data.verified", "`data.verified` is for noise rates that are estimated: give `recipe.form` "+
			"estimate without a file of `noise_rates`, or leave out `data.verified`")
	}
	if err := settings.Validate(); err != nil || c.Data.Evidence == "" {
		return err
	}
	return settings.ValidateEvidence()
}

// validateAugment refuses augmentations that the data cannot have.
func (c *Config) validateAugment() error {
	switch a := c.Train.Augment; {
	case c.Net.Backbone != "" && a.Pictures():
		return setting.Errorf("train.augment", "`net.backbone` computes features once, of pictures as they are: of "+
			"augmentations `train.augment.mixup` alone has an effect on them, leave out the others (%s)", a)
	case c.Data.Set == dataset.Features && a.Pictures():
		return setting.Errorf("train.augment", "features are no pictures: of augmentations `train.augment.mixup` alone "+
			"has an effect on them, leave out the others (%s)", a)
	case c.Data.Evidence != "" && a.Mixup > 0:
		return setting.Errorf("train.augment.mixup",
			"`train.augment.mixup` mixes labels, and `data.evidence` takes their place: leave out one of the two")
	}
	return nil
}

// validateMixup refuses mixtures of labels for an arm, or nets of its folds, whose noise model learns by the likelihood
// of labels.
func (c *Config) validateMixup() error {
	arm, _ := c.Arm.Arm()
	if c.Train.Augment.Mixup == 0 || arm.Noise == model.NoNoise && !arm.Folds || arm.Name == recipe.EM {
		return nil
	}
	return setting.Errorf("train.augment.mixup",
		"`train.augment.mixup` makes labels between 0 and 1, and arm %s has a noise model, which learns by the likelihood "+
			"of labels 0 and 1: give `arm` baseline or `arm` stage1, or leave out `train.augment.mixup`", c.Arm)
}

// ValidateLoss refuses for an arm with a noise model what is for the classifier alone: a loss, and mixtures of labels.
func (c *Config) ValidateLoss() error {
	if err := c.validateMixup(); err != nil {
		return err
	}
	if c.Train.Loss.IsZero() || c.Arm.Noise() == model.NoNoise {
		return nil
	}
	return fmt.Errorf("loss %s is for the classifier alone, and arm %s has a noise model, which learns by the likelihood "+
		"of the labels: give `arm` baseline or `arm` stage1, or leave out `train.loss`", c.Train.Loss.Name(), c.Arm)
}

// level is what a training sample of videos is, for tables; empty for pictures.
func (c *Config) level() string {
	switch {
	case !c.Data.Videos():
		return ""
	case c.ByFrame():
		return report.FrameLevel
	}
	return report.VideoLevel
}

// ByFrame reports whether frames of videos are learned one by one.
func (c *Config) ByFrame() bool {
	return c.Data.VideoLevel == dataset.LevelFrame || c.Data.VideoLevel != dataset.LevelVideo && !c.Net.MIL &&
		c.Net.Backbone == "" // a head learns whole clips by default
}

func (c *Config) validateVideo() error {
	switch d := &c.Data; {
	case d.Set == dataset.MovingScenes && (d.Frames < 3 || d.Frames > 1000):
		return fmt.Errorf("data.frames is %d, want 3 to 1000", d.Frames)
	case c.level() == report.FrameLevel && c.Settings().Folds() > 0:
		return errors.New("recipe: folds of frames would have a video in several folds: take `data.video_level` video, or " +
			"the rates of `noise_rates` online")
	}
	return nil
}

// Scored is a set as the nets of a configuration are judged on it: videos by their frames, where the nets learn frames.
func (c *Config) Scored(set *loader.Set) *loader.Set {
	if !c.ByFrame() {
		return set
	}
	return dataset.ScoredByFrame(set)
}
