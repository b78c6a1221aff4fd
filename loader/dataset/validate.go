package dataset

import (
	"fmt"

	"nmn/internal/setting"
)

// ConfigError is a setting that is out of range, or conflicts with other settings or the data: a mistake of
// the caller, not a failure. Field is the key of the setting in a configuration file, such as data.noise. It
// is empty if several settings are at fault.
type ConfigError = setting.Error

// Validate names the first field that is out of range.
func (f *FeatureConfig) Validate() error {
	switch {
	case f.Train.Features == "":
		return fmt.Errorf("data.set is features: name the file of features (`data.features.train.features` FILE)")
	case f.Missing == MissingMean && !f.Standardise:
		return fmt.Errorf("data.features.missing_values is mean, which needs data.features.standardise: the mean is that " +
			"of the standard")
	}
	return nil
}

// Validate names the first field that is out of range or lacks a setting that it requires.
func (d *Config) Validate() error {
	if err := setting.Check("data.", d); err != nil {
		return err
	}
	if d.Embedded() && (d.TrainSize == 0 || d.TestSize == 0) {
		return setting.Errorf("data.train_size", "data.train_size is %d and data.test_size %d, want at least 1", d.TrainSize,
			d.TestSize)
	}
	switch {
	case d.Set == "":
		return setting.Errorf("data.set", "data.set is empty, want %s", setting.Alternatives(kinds()))
	case d.Set == Manifest && d.ManifestPath() == "":
		return fmt.Errorf("data.set is manifest: name the list of pictures (`data.manifest` FILE), or the folder of " +
			"pictures by label (`data.images` DIR)")
	case d.Classes == Exclusive && d.Set == MovingScenes:
		return setting.Errorf("data.classes", "`data.classes` is exclusive, and moving scenes have no main object: give "+
			"`data.set` scenes")
	case d.NoiseKind.Relabels() && d.Embedded() && d.Classes != Exclusive:
		return setting.Errorf("data.noise_kind", "`data.noise_kind` %s replaces the one label of a picture: give "+
			"`data.classes` exclusive too", d.NoiseKind)
	case d.relabels() && !d.NoiseKind.Relabels() && d.NoiseKind != "":
		return setting.Errorf("data.noise_kind", "`data.noise_kind` %s replaces captions, which scenes with one label do "+
			"not have: give symmetric or asymmetric", d.NoiseKind)
	case d.NoiseKind != "" && !d.NoiseKind.Relabels() && !d.Captioned():
		return setting.Errorf("data.noise_kind", "`data.noise_kind` %s replaces captions, which %s do not have: give "+
			"symmetric or asymmetric", d.NoiseKind, d.Noun())
	case !d.Captioned() && d.Noise > 0 && !d.NoiseKind.Relabels():
		return fmt.Errorf("data.noise is %g: %s have no captions to replace; flip labels (`data.flips` 0.3:0.1) or give a "+
			"noise file",
			d.Noise, d.Noun())
	case (d.Noise > 0 || d.NoiseFile != "") && (d.Flips != "" || d.FlipRates != ""):
		return fmt.Errorf("data.noise and data.flips both inject noise: choose one")
	case d.Set == Captions && (d.Captions == "" || d.Images == ""):
		return fmt.Errorf("data.set is captions: name the file of captions (`data.captions` FILE) and the folder of " +
			"pictures (`data.images` DIR)")
	case d.Set == MSRVTT && (d.MSRVTT == "" || d.FramesDir == ""):
		return fmt.Errorf("data.set is msrvtt: name the file of annotations (`data.msrvtt` FILE) and the folder of frames " +
			"(`data.frames_dir` DIR)")
	case d.Set == Clips && d.Clips == "":
		return fmt.Errorf("data.set is clips: name the folder of the training clips (`data.clips` DIR)")
	case d.ValidationShare+d.TestShare >= 1:
		return fmt.Errorf("data.validation_share %g and data.test_share %g leave nothing to train on",
			d.ValidationShare, d.TestShare)
	}
	if _, _, err := d.Flips.Rates(); err != nil {
		return fmt.Errorf("data.%w", err)
	}
	if d.Set == Features {
		return d.Features.Validate()
	}
	return nil
}
