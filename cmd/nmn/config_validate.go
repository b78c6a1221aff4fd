package main

import (
	"errors"
	"fmt"
	"slices"
)

// validate names the first field that is out of range.
func (c *config) validate() error {
	for _, check := range []func() error{c.validateNames, c.Data.validate, c.validateNet, c.Train.Validate, c.Run.validate, c.validateRecipe, c.validateVideo} {
		if err := check(); err != nil {
			return usageError{err}
		}
	}
	return nil
}

func (c *config) validateNames() error {
	switch {
	case !slices.Contains(allArms(), c.Arm):
		return fmt.Errorf("arm is %q, want %s", c.Arm, alternatives(allArms()))
	case c.Size != sizeQuick && c.Size != sizeFull:
		return fmt.Errorf("size is %q, want quick or full", c.Size)
	case c.Net.Arch != netVGG16 && c.Net.Arch != netScenes && c.Net.Arch != netMLP:
		return fmt.Errorf("net.arch is %q, want vgg16, scenes or mlp", c.Net.Arch)
	case (c.Net.Arch == netMLP) != (c.Data.Set == dataFeatures):
		return fmt.Errorf("net.arch is %q and data.set is %q: the net mlp is for features (--features FILE), the others are for pictures", c.Net.Arch, c.Data.Set)
	case c.Net.Arch != netMLP && len(c.Net.Hidden) > 0:
		return fmt.Errorf("net.hidden is %v: it is for the net mlp, on features", c.Net.Hidden)
	case c.Net.Arch == netMLP && c.Net.forPictures():
		return errors.New("net.input_size, depths, widths, fc6, fc7, fc6_kernel and fc6_pad are for nets on pictures; the net mlp has hidden layers (--hidden)")
	case c.Net.MIL && c.Net.Arch == netMLP:
		return errors.New("net.mil joins the cells of pictures: features have none; leave out --mil")
	case c.Net.Pixels != pixelsUnit && c.Net.Pixels != pixelsRaw:
		return fmt.Errorf("net.pixels is %q, want unit or raw", c.Net.Pixels)
	case !slices.Contains([]channelOrder{"", channelsRGB, channelsBGR}, c.Net.WeightsChannels):
		return fmt.Errorf("net.weights_channels is %q, want rgb or bgr", c.Net.WeightsChannels)
	case c.Net.Weights == "" && (c.Net.WeightsChannels != "" || c.Net.WeightsClassifier):
		return errors.New("net.weights_channels and weights_classifier are for a file to start from: name one (--init FILE)")
	}
	return nil
}

// forPictures tells whether anything is set that only a net on pictures has.
func (n *netConfig) forPictures() bool {
	return n.InputSize != 0 || len(n.Depths)+len(n.Widths) > 0 || n.FC6 != 0 || n.FC7 != 0 || n.FC6Kernel != 0 || n.FC6Pad != 0
}

func (d *dataConfig) validate() error {
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
	if d.scenes() {
		pictures = 1
	}
	if err := firstError(positive("train_size", d.TrainSize, pictures), positive("validation_size", d.ValidationSize, 0),
		positive("test_size", d.TestSize, pictures), share("noise", d.Noise),
		share("flip_spread", d.FlipSpread),
		share("validation_share", d.ValidationShare), share("test_share", d.TestShare),
		positive("captions_per_bag", d.CaptionsPerBag, 1), positive("vocabulary_size", d.VocabularySize, 1),
		positive("min_count", d.MinCount, 0), positive("max_bad_samples", d.MaxBadSamples, 0),
		positive("max_pixels", d.MaxPixels, 0), positive("shuffle_block", d.ShuffleBlock, 0), positive("shuffle_window", d.ShuffleWindow, 0), d.validateFit()); err != nil {
		return err
	}
	switch {
	case !slices.Contains(dataSources(), d.Set):
		return fmt.Errorf("data.set is %q, want %s", d.Set, alternatives(dataSources()))
	case d.Set == dataManifest && d.Manifest == "":
		return fmt.Errorf("data.set is manifest: name the list of pictures (--manifest FILE)")
	case !d.captioned() && d.Noise > 0:
		return fmt.Errorf("data.noise is %g: %s have no captions to replace; flip labels (--flips 0.3:0.1) or give a noise file", d.Noise, d.what())
	case (d.Noise > 0 || d.NoiseFile != "") && (d.Flips != "" || d.FlipRates != ""):
		return fmt.Errorf("data.noise and data.flips both inject noise: choose one")
	case d.Set == dataCaptions && (d.Captions == "" || d.Images == ""):
		return fmt.Errorf("data.set is captions: name the file of captions (--captions FILE) and the folder of pictures (--images DIR)")
	case d.Set == dataMSRVTT && (d.MSRVTT == "" || d.FramesDir == ""):
		return fmt.Errorf("data.set is msrvtt: name the file of annotations (--msrvtt FILE) and the folder of frames (--frames-dir DIR)")
	case d.Set == dataClips && d.Clips == "":
		return fmt.Errorf("data.set is clips: name the folder of the training clips (--clips DIR)")
	case d.Clips+d.ValClips+d.TestClips != "" && (d.Set != dataClips || d.Captions != "" || d.MSRVTT != "" || d.Features.Train.Features != ""):
		return fmt.Errorf("data.clips is %q, beside other data (data.set is %s): folders of clips have their labels beside them: leave out one", d.Clips, d.Set)
	case d.Manifest != "" && (d.Set != dataManifest || d.Captions != "" || d.ValCaptions != "" || d.MSRVTT != "" || d.Features.Train.Features != ""):
		return fmt.Errorf("data.manifest is %q, beside other data (data.set is %s): a manifest has pictures and labels, and may have a column split: leave out one", d.Manifest, d.Set)
	case d.ValidationShare+d.TestShare >= 1:
		return fmt.Errorf("data.validation_share %g and data.test_share %g leave nothing to train on", d.ValidationShare, d.TestShare)
	}
	if _, _, err := d.Flips.rates(); err != nil {
		return fmt.Errorf("data.%w", err)
	}
	if d.Set == dataFeatures {
		return d.Features.validate()
	}
	return nil
}

// scenes tells whether the data are made, not read.
func (d *dataConfig) scenes() bool { return d.Set == dataScenes || d.Set == dataMoving }

func (d *dataConfig) validateFit() error {
	if d.Fit == "" {
		return nil
	}
	if err := d.Fit.Validate(); err != nil {
		return fmt.Errorf("data.%w", err)
	}
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *config) validateNet() error {
	if !(c.Net.Width > 0 && c.Net.Width <= 16) {
		return fmt.Errorf("net.width is %g, want more than 0 and at most 16", c.Net.Width)
	}
	return c.Net.model(1, 1, c.Arm.noiseMode()).Validate()
}

func (r *runConfig) validate() error {
	for _, f := range []struct {
		name      string
		value, lo int
	}{{"threads", r.Threads, 0}, {"workers", r.Workers, 1}, {"prefetch", r.Prefetch, 1}} {
		if f.value < f.lo || f.value > 1024 {
			return fmt.Errorf("run.%s is %d, want %d to 1024", f.name, f.value, f.lo)
		}
	}
	if r.LabelMemory < 0 {
		return fmt.Errorf("run.label_memory is %d MiB, want at least 0", r.LabelMemory)
	}
	if err := r.Precision.Validate(); err != nil {
		return fmt.Errorf("run.%w", err)
	}
	return nil
}
