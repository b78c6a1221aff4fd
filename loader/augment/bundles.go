package augment

import (
	"slices"

	"nmn/internal/setting"
)

// Bundle names a choice of augmentations.
type Bundle string

// The bundles. None of them mixes bags: noise models learn from labels, not from mixtures of labels.
const (
	None   Bundle = "none"
	Light  Bundle = "light"  // half of the area or more, and slightly other colours
	Strong Bundle = "strong" // a quarter of the area or more, two operations of RandAugment, and erasing
)

// Bundles lists them.
func Bundles() []Bundle { return []Bundle{None, Light, Strong} }

// Config returns the configuration of a bundle.
func (b Bundle) Config() Config {
	switch b {
	case Light:
		return Config{
			Crop:   CropConfig{Area: Range{.5, 1}},
			Jitter: JitterConfig{Brightness: .2, Contrast: .2, Saturation: .2, Hue: .02},
		}
	case Strong:
		return Config{
			Crop:    CropConfig{Area: Range{.25, 1}},
			Rand:    RandConfig{Operations: 2, Magnitude: 9},
			Erasing: ErasingConfig{Probability: .25},
		}
	}
	return Config{}
}

// UnmarshalYAML reads the settings, or the name of a bundle in the place of all of them.
func (c *Config) UnmarshalYAML(unmarshal func(any) error) error {
	var bundle Bundle
	if unmarshal(&bundle) != nil {
		type settings Config
		return unmarshal((*settings)(c))
	}
	if bundle != "" && !slices.Contains(Bundles(), bundle) {
		return setting.Errorf("train.augment", "train.augment is %q, want %s, or settings of its own", bundle,
			setting.Alternatives(Bundles()))
	}
	*c = bundle.Config()
	return nil
}
