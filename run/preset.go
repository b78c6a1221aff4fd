package run

import (
	"cmp"

	"nmn/internal/setting"
	"nmn/kernels/tensor"
	"nmn/loader/annotation"
	"nmn/loader/dataset"
	"nmn/recipe"
	"nmn/train"
)

// Preset is the configuration of a preset, as nmn train --preset takes it; size is that of scenes, empty for quick. Arm
// and recipe are left open: unless the caller sets them, Open chooses them by the data.
func Preset(name PresetName, size Size) (Config, error) {
	size = cmp.Or(size, Quick)
	c := BaseConfig()
	c.Preset, c.Size, c.Arm = name, size, ""
	switch name {
	case ScenesPreset:
		c.scenes(size)
	case MovingScenesPreset:
		c.MovingScenes(size)
	case PaperCOCOPreset:
		c.Data.Set, c.Net.Arch = dataset.Captions, NetVGG16
		c.Train = train.Paper()
	case PaperMSRVTTPreset:
		c.Data.Set, c.Net.Arch = dataset.MSRVTT, NetVGG16
		c.Data.CaptionsPerSample, c.Data.VocabularySize = annotation.MSRVTTCaptions, dataset.MSRVTTWords
		c.Train = train.Paper()
	case FeaturesPreset:
		c.Data.Set, c.Net.Arch, c.Net.Hidden = dataset.Features, NetMLP, []int{256, 256}
		c.Data.ValidationShare, c.Data.TestShare = .2, .2
		c.Train = train.FeaturesPreset()
		c.note(batchKey, halvedFrom64)
		c.note(batchMILKey, halvedFrom64)
	default:
		return Config{}, setting.Errorf("preset", "preset is %q, want %s", name, setting.Alternatives(Presets()))
	}
	return c, nil
}

// BaseConfig is what all presets share.
func BaseConfig() Config {
	return Config{
		Arm:  recipe.FD,
		Data: dataset.DefaultConfig(),
		Net:  NetConfig{Width: 1, Dropout: -1, NoisePool: "mean"},
		Run:  Resources{Device: "auto", Precision: tensor.Auto, Workers: 2, Prefetch: 4, LabelMemory: 512},
	}
}

// DefaultConfig is the preset of scenes in its quick size with the arm NMN-FD: what flags show as their defaults.
func DefaultConfig() Config {
	c := BaseConfig()
	c.Preset, c.Size = ScenesPreset, Quick
	c.scenes(Quick)
	return c
}

// Presets lists all presets.
func Presets() []PresetName {
	return []PresetName{ScenesPreset, MovingScenesPreset, PaperCOCOPreset, PaperMSRVTTPreset, FeaturesPreset}
}

func (c *Config) scenes(size Size) {
	c.Data.Set, c.Data.Noise, c.Net.Arch = dataset.Scenes, .4, NetScenes
	c.Data.TrainSize, c.Data.ValidationSize, c.Data.TestSize = 4000, 500, 1000
	c.Train = train.ScenesQuick()
	if size == Full {
		c.Data.TrainSize, c.Data.ValidationSize, c.Data.TestSize = 16000, 1000, 2000
		c.Train = train.ScenesPreset()
	}
}

// MovingFrames is the number of frames of a clip of moving scenes in the quick size, and by default.
const MovingFrames = 8

// MovingScenes lays the preset of that name over a configuration.
func (c *Config) MovingScenes(size Size) {
	c.Data.Set, c.Data.Noise, c.Net.Arch, c.Data.Frames = dataset.MovingScenes, .4, NetScenes, MovingFrames
	c.Data.TrainSize, c.Data.ValidationSize, c.Data.TestSize = 1000, 100, 500
	if size == Full {
		c.Data.TrainSize, c.Data.ValidationSize, c.Data.TestSize, c.Data.Frames = 2000, 200, 1000, 26
	}
	c.trainFrames()
}

// trainFrames takes the training of the moving scenes.
func (c *Config) trainFrames() {
	c.Train = train.MovingPreset()
	c.note(decayKey, decayOfFrames)
}

// The decay of weights, where it is left open (docs/guide/training.md).
const (
	decayKey        = "train.weight_decay"
	decayOfPictures = "as for the built-in scenes"
	decayOfFrames   = "frames of a clip look alike, and are soon learned by heart"
	decayOfClips    = "whole clips learn too slowly with the decay of single frames"
)

// SetMIL has bags of frames or of places in a picture judged as a whole, or not.
func (c *Config) SetMIL(on bool) {
	c.Net.MIL = on
	c.settleDecay()
}

// settleDecay chooses the decay for clips, by what is learned of them, if it is left open and has one of the values
// that are chosen.
func (c *Config) settleDecay() {
	decay, frames := &c.Train.WeightDecay, train.MovingPreset().WeightDecay
	if !c.LeftOpen(decayKey) || !c.Data.Videos() ||
		*decay != 0 && *decay != frames && *decay != train.ScenesPreset().WeightDecay {
		return
	}
	*decay = frames
	why := decayOfFrames
	if c.Net.MIL && !c.ByFrame() {
		*decay, why = 0, decayOfClips
	}
	c.note(decayKey, why)
}
