package dataset

import (
	"nmn/loader/features"
	"nmn/loader/picture"
)

// Config selects the pictures and labels. Each kind of data has a struct of its settings, and so have settings that
// several kinds read. The tag of lists the kinds that read a setting, or all settings of a struct. Without it all do.
type Config struct {
	Set Kind `yaml:"set" help:"<kind> of data"`
	// Classes says whether each bag has exactly one label. Empty is Multi. Auto is resolved when the data are open.
	Classes Classes `yaml:"classes,omitempty" help:"whether each row has exactly one label; empty is auto for pictures, else multi" values:"auto,exclusive,multi"`
	Seed    uint64  `yaml:"seed" help:"<seed> of scenes, label noise and splits"`

	SceneConfig      `yaml:",inline" of:"scenes moving-scenes"`
	CaptionConfig    `yaml:",inline" of:"captions"`
	MSRVTTConfig     `yaml:",inline" of:"msrvtt"`
	ClipConfig       `yaml:",inline" of:"clips"`
	ManifestConfig   `yaml:",inline" of:"manifest"`
	Features         FeatureConfig `yaml:"features" of:"features"`
	PictureConfig    `yaml:",inline" of:"captions msrvtt clips manifest"`
	VocabularyConfig `yaml:",inline" of:"captions msrvtt clips manifest"`
	HoldOutConfig    `yaml:",inline" of:"captions clips features manifest"`
	NoiseConfig      `yaml:",inline"`

	// Evidence is a file of log-likelihood ratios, .npy or .csv, that the classifier learns in place of the training
	// labels: a row for each bag before validation and test are held out, or rows that name their bags.
	Evidence string `yaml:"evidence,omitempty" help:"<file> of log-likelihood ratios to learn in place of labels (docs/guide/evidence.md)"`

	// Verified is a list of training pictures with all their true labels.
	Verified string `yaml:"verified,omitempty" help:"<file> of training pictures with all their true labels, to estimate noise rates by (docs/guide/audit.md)"`
}

// DefaultConfig is what all kinds of data share: a tenth of the bags for validation and one for test, the 1,000 most
// frequent words of captions, whatever their part of speech, and no noise.
func DefaultConfig() Config {
	c := Config{Seed: 1, Features: FeatureConfig{Standardise: true, Missing: MissingError,
		MemoryLimit: features.DefaultLimit >> 30}}
	c.ValidationShare, c.TestShare = .1, .1
	c.CaptionsPerSample, c.VocabularySize, c.MinCount, c.KeepFunctionWords = 5, 1000, 1, true
	c.MaxPixels, c.FlipSpread, c.ShuffleWindow = picture.DefaultMaxPixels, .5, 16
	return c
}
