package main

import (
	"nmn/internal/setting"
	"nmn/kernels/tensor"
	"nmn/loader/annotation"
	"nmn/loader/features"
	"nmn/loader/picture"
	"nmn/train"
)

// presetConfig is where a configuration starts from.
func presetConfig(name presetName, size sizeName) (config, error) {
	c := baseConfig()
	c.Preset, c.Size = name, size
	switch name {
	case presetScenes:
		c.scenes(size)
	case presetMoving:
		c.movingScenes(size)
	case presetPaperCOCO:
		c.Data.Set, c.Net.Arch = dataCaptions, netVGG16
		c.Train = train.Paper()
	case presetPaperMSRVTT:
		c.Data.Set, c.Net.Arch = dataMSRVTT, netVGG16
		c.Data.CaptionsPerBag, c.Data.VocabularySize = annotation.MSRVTTCaptions, msrvttWords
		c.Train = train.Paper()
	case presetFeatures:
		c.Data.Set, c.Net.Arch, c.Net.Hidden = dataFeatures, netMLP, []int{256, 256}
		c.Data.ValidationShare, c.Data.TestShare = .2, .2
		c.Train = train.FeaturesPreset()
	default:
		return config{}, setting.Errorf("preset", "preset is %q, want %s", name, setting.Alternatives(presets()))
	}
	return c, nil
}

// baseConfig is what all presets share.
func baseConfig() config {
	return config{
		Arm: armFD,
		Data: dataConfig{
			Seed: 1, ValidationShare: .1, TestShare: .1, CaptionsPerBag: 5, VocabularySize: 1000, MinCount: 1,
			MaxPixels: picture.DefaultLimits().MaxPixels, FlipSpread: .5, ShuffleWindow: 16,
			Features: featureConfig{Standardise: true, Missing: missingError, MemoryLimit: features.DefaultLimit >> 30},
		},
		Net: netConfig{Width: 1, Dropout: -1, NoisePool: "mean", Pixels: pixelsUnit},
		Run: runConfig{Device: "auto", Precision: tensor.Auto, Workers: 2, Prefetch: 4, LabelMemory: 512},
	}
}

// defaultConfig is what flags show as their defaults.
func defaultConfig() config {
	c := baseConfig()
	c.Preset, c.Size = presetScenes, sizeQuick
	c.scenes(sizeQuick)
	return c
}

func presets() []presetName {
	return []presetName{presetScenes, presetMoving, presetPaperCOCO, presetPaperMSRVTT, presetFeatures}
}

func (c *config) scenes(size sizeName) {
	c.Data.Set, c.Data.Noise, c.Net.Arch = dataScenes, .4, netScenes
	c.Data.TrainSize, c.Data.ValidationSize, c.Data.TestSize = 4000, 500, 1000
	c.Train = train.ScenesQuick()
	if size == sizeFull {
		c.Data.TrainSize, c.Data.ValidationSize, c.Data.TestSize = 16000, 1000, 2000
		c.Train = train.ScenesPreset()
	}
}

const movingFrames = 8 // of a clip in the quick size, and where nobody says

func (c *config) movingScenes(size sizeName) {
	c.Data.Set, c.Data.Noise, c.Net.Arch, c.Data.Frames = dataMoving, .4, netScenes, movingFrames
	c.Data.TrainSize, c.Data.ValidationSize, c.Data.TestSize = 1000, 100, 500
	if size == sizeFull {
		c.Data.TrainSize, c.Data.ValidationSize, c.Data.TestSize, c.Data.Frames = 2000, 200, 1000, 26
	}
	c.Train = train.MovingPreset()
}
