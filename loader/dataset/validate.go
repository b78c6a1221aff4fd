package dataset

import (
	"cmp"
	"fmt"
	"slices"

	"nmn/internal/setting"
)

// Validate names the first field that is out of range.
func (f *FeatureConfig) Validate() error {
	switch {
	case f.Train.Features == "":
		return fmt.Errorf("data.set is features: name the file of features (`data.features.train.features` FILE)")
	case f.Missing != MissingError && f.Missing != MissingMean:
		return fmt.Errorf("data.features.missing_values is %q, want error or mean", f.Missing)
	case f.Missing == MissingMean && !f.Standardise:
		return fmt.Errorf("data.features.missing_values is mean, which needs data.features.standardise: the mean is that of the standard")
	case !(f.MemoryLimit > 0 && f.MemoryLimit <= 1<<20):
		return fmt.Errorf("data.features.memory_limit is %g GiB, want more than 0 and at most %d", f.MemoryLimit, 1<<20)
	}
	return nil
}

// Validate names the first field that is out of range or lacks what it belongs to.
func (d *Config) Validate() error {
	positive := func(field string, v, least int) error {
		if v < least {
			return fmt.Errorf("data.%s is %d, want at least %d", field, v, least)
		}
		return nil
	}
	share := func(field string, v float64) error {
		if !(v >= 0 && v < 1) {
			return fmt.Errorf("data.%s is %g, want at least 0 and less than 1", field, v)
		}
		return nil
	}
	// All fields, also those that the set of data does not use: a flag that is out of range is a mistake.
	pictures := 0
	if d.Embedded() {
		pictures = 1
	}
	if err := cmp.Or(positive("train_size", d.TrainSize, pictures), positive("validation_size", d.ValidationSize, 0),
		positive("test_size", d.TestSize, pictures), share("noise", d.Noise),
		share("flip_spread", d.FlipSpread),
		share("validation_share", d.ValidationShare), share("test_share", d.TestShare),
		positive("captions_per_bag", d.CaptionsPerBag, 1), positive("vocabulary_size", d.VocabularySize, 1),
		positive("min_count", d.MinCount, 0), positive("max_bad_samples", d.MaxBadSamples, 0),
		positive("max_pixels", d.MaxPixels, 0), positive("shuffle_block", d.ShuffleBlock, 0),
		positive("shuffle_window", d.ShuffleWindow, 0), d.validateFit()); err != nil {
		return err
	}
	switch {
	case !slices.Contains(Kinds(), d.Set):
		return fmt.Errorf("data.set is %q, want %s", d.Set, setting.Alternatives(Kinds()))
	case d.LabelForm.Validate() != nil:
		return fmt.Errorf("data.%w", d.LabelForm.Validate())
	case d.Set == Manifest && d.ManifestPath() == "":
		return fmt.Errorf("data.set is manifest: name the list of pictures (`data.manifest` FILE), or the folder of pictures by label (`data.images` DIR)")
	case !d.Captioned() && d.Noise > 0:
		return fmt.Errorf("data.noise is %g: %s have no captions to replace; flip labels (`data.flips` 0.3:0.1) or give a noise file",
			d.Noise, d.Noun())
	case (d.Noise > 0 || d.NoiseFile != "") && (d.Flips != "" || d.FlipRates != ""):
		return fmt.Errorf("data.noise and data.flips both inject noise: choose one")
	case d.Set == Captions && (d.Captions == "" || d.Images == ""):
		return fmt.Errorf("data.set is captions: name the file of captions (`data.captions` FILE) and the folder of pictures (`data.images` DIR)")
	case d.Set == MSRVTT && (d.MSRVTT == "" || d.FramesDir == ""):
		return fmt.Errorf("data.set is msrvtt: name the file of annotations (`data.msrvtt` FILE) and the folder of frames (`data.frames_dir` DIR)")
	case d.Set == Clips && d.Clips == "":
		return fmt.Errorf("data.set is clips: name the folder of the training clips (`data.clips` DIR)")
	case d.Clips+d.ValClips+d.TestClips != "" && (d.Set != Clips || d.Captions != "" || d.MSRVTT != "" ||
		d.Features.Train.Features != ""):
		return fmt.Errorf("data.clips is %q, beside other data (data.set is %s): folders of clips have their labels beside them: leave out one",
			d.Clips, d.Set)
	case d.Manifest != "" && (d.Set != Manifest || d.Captions != "" || d.ValCaptions != "" || d.MSRVTT != "" ||
		d.Features.Train.Features != ""):
		return fmt.Errorf("data.manifest is %q, beside other data (data.set is %s): a manifest has pictures and labels, and may have a column split: leave out one",
			d.Manifest, d.Set)
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

func (d *Config) validateFit() error {
	err := cmp.Or(d.Resize.Validate(), d.Orientation.Validate())
	if d.Fit != "" {
		err = cmp.Or(d.Fit.Validate(), err)
	}
	if err != nil {
		return fmt.Errorf("data.%w", err)
	}
	return nil
}
