package dataset

import (
	"cmp"
	"fmt"
	"slices"

	"nmn/loader/features"
	"nmn/loader/manifest"
	"nmn/loader/picture"
)

// Kind is where data come from.
type Kind string

// The kinds of data.
const (
	Scenes       Kind = "scenes"        // pictures that are made up, with captions; they need no files
	MovingScenes Kind = "moving-scenes" // clips of such
	Captions     Kind = "captions"      // pictures with the captions of COCO
	MSRVTT       Kind = "msrvtt"        // frames of videos with the captions of MSR-VTT
	Clips        Kind = "clips"         // frames of videos in shards, with labels beside them
	Features     Kind = "features"      // vectors with labels
	Manifest     Kind = "manifest"      // a list of pictures or clips, with labels by name
)

// Kinds lists all kinds.
func Kinds() []Kind {
	return []Kind{Scenes, MovingScenes, Captions, MSRVTT, Clips, Features, Manifest}
}

// VideoLevel is what a training sample of videos is.
type VideoLevel string

// The levels.
const (
	LevelAuto  VideoLevel = "auto"  // video with MIL, frame without: the two rows of the paper's Table 3
	LevelFrame VideoLevel = "frame" // a frame has the labels of its video, a test video the maximum over its frames
	LevelVideo VideoLevel = "video" // a video is a bag of the cells of all its frames
)

// Config says which pictures and labels there are.
type Config struct {
	Set  Kind   `yaml:"set"`
	Seed uint64 `yaml:"seed"` // of the scenes, of label noise and of the split

	// Scenes: pictures of each split, or clips and the frames of each.
	TrainSize      int `yaml:"train_size"`
	ValidationSize int `yaml:"validation_size"`
	TestSize       int `yaml:"test_size"`
	Frames         int `yaml:"frames,omitempty"`

	// VideoLevel says what a training sample is where bags have several frames.
	VideoLevel VideoLevel `yaml:"video_level,omitempty"`

	// Captions: COCO files. Without validation captions, shares of the training pictures are held out.
	Captions        string  `yaml:"captions"`
	Images          string  `yaml:"images"`
	ValCaptions     string  `yaml:"val_captions"`
	ValImages       string  `yaml:"val_images"`
	ValidationShare float64 `yaml:"validation_share"`
	TestShare       float64 `yaml:"test_share"`
	ValidationIDs   string  `yaml:"validation_ids"` // files of picture identifiers instead of shares
	TestIDs         string  `yaml:"test_ids"`
	CaptionsPerBag  int     `yaml:"captions_per_bag"`
	Vocabulary      string  `yaml:"vocabulary"`
	VocabularySize  int     `yaml:"vocabulary_size"` // of one built from the captions
	MinCount        int     `yaml:"min_count"`       // likewise
	// KeepFunctionWords has words such as "a", "on" and "of" become classes of a vocabulary built from captions.
	KeepFunctionWords bool `yaml:"keep_function_words"`

	// MSR-VTT: the annotations of its clips, and a folder of their frames.
	MSRVTT    string `yaml:"msrvtt,omitempty"`
	FramesDir string `yaml:"frames_dir,omitempty"`

	// Clips: folders of frames with labels beside them, one for each split.
	Clips     string `yaml:"clips,omitempty"`
	ValClips  string `yaml:"val_clips,omitempty"`
	TestClips string `yaml:"test_clips,omitempty"`
	// ClipLabels is another file of labels for the frames in Clips; empty for the one that lies beside them.
	ClipLabels string `yaml:"clip_labels,omitempty"`
	// ShuffleBlock neighbours in the files of Clips come together, and ShuffleWindow blocks are mixed with each
	// other; 0 neighbours mix all with all.
	ShuffleBlock  int `yaml:"shuffle_block,omitempty"`
	ShuffleWindow int `yaml:"shuffle_window,omitempty"`

	// Manifest: a list of pictures, or of clips as frames, with labels by name, or a folder of pictures and labels.
	// Images is the folder of the pictures, empty for that of the manifest; alone it is a folder for each label.
	Manifest      string        `yaml:"manifest,omitempty"`
	LabelForm     manifest.Form `yaml:"label_form,omitempty"`     // how it states labels; empty or auto finds it
	SkipDifficult bool          `yaml:"skip_difficult,omitempty"` // objects of VOC that are difficult are no labels

	// Features: files of vectors.
	Features FeatureConfig `yaml:"features"`

	// Evidence is a file of log-likelihood ratios, .npy or .csv, that the classifier learns in place of the training
	// labels: a row for each bag before validation and test are held out, or rows that name their bags.
	Evidence string `yaml:"evidence,omitempty"`

	// Noise is injected into the training labels: a rate of caption replacement, or a file.
	Noise     float64 `yaml:"noise"`
	NoiseFile string  `yaml:"noise_file"`
	// Flips inject noise by flipping labels: both rates, how far those of a class lie from them at most
	// (a share of the rate), or a file with those of each class.
	Flips      FlipLevel   `yaml:"flips"`
	FlipSpread float64     `yaml:"flip_spread"`
	FlipRates  string      `yaml:"flip_rates"`
	NoiseSeed  uint64      `yaml:"noise_seed"` // 0: that of the data
	Fit        picture.Fit `yaml:"fit"`        // empty: longest side with MIL, square without
	// Resize is the filter that pictures are resized with, and Orientation what is done about that which their files
	// state. Empty are the same as bilinear and ignore.
	Resize      picture.Filter      `yaml:"resize,omitempty"`
	Orientation picture.Orientation `yaml:"orientation,omitempty"`

	MaxBadSamples int `yaml:"max_bad_samples"`
	MaxPixels     int `yaml:"max_pixels"`

	// ManifestOfClips says that the rows of the manifest have several frames, which is known once it was read.
	ManifestOfClips bool `yaml:"-"`

	// PackedLabels takes labels that look like lists in one string as they are, for who looks at the data before a
	// run: else they are refused.
	PackedLabels bool `yaml:"-"`

	// VocabularyOfModel says that Vocabulary is that of a model, and not one that somebody has named.
	VocabularyOfModel bool `yaml:"-"`
}

// DefaultConfig is what all kinds of data share: a tenth of the bags for validation and one for test, the 1,000 most
// frequent words of captions, whatever their part of speech, and no noise.
func DefaultConfig() Config {
	return Config{
		Seed: 1, ValidationShare: .1, TestShare: .1, CaptionsPerBag: 5, VocabularySize: 1000, MinCount: 1,
		KeepFunctionWords: true, MaxPixels: picture.DefaultLimits().MaxPixels, FlipSpread: .5, ShuffleWindow: 16,
		Features: FeatureConfig{Standardise: true, Missing: MissingError, MemoryLimit: features.DefaultLimit >> 30},
	}
}

// ManifestPath is the file or the folder of the manifest: without one the folder of pictures by label.
func (d *Config) ManifestPath() string { return cmp.Or(d.Manifest, d.Images) }

// Embedded reports whether the data are made, not read.
func (d *Config) Embedded() bool { return d.Set == Scenes || d.Set == MovingScenes }

// Decodes reports whether pictures or frames are decoded from files.
func (d *Config) Decodes() bool { return slices.Contains(onFiles, d.Set) }

// Captioned reports whether labels come from captions, which noise may replace.
func (d *Config) Captioned() bool { return d.Set != Features && d.Set != Manifest }

// Noun names data without captions, for messages.
func (d *Config) Noun() string {
	if d.Set == Manifest {
		return "manifests"
	}
	return "features"
}

// Bags names what a sample of the scenes is, for people.
func (d *Config) Bags() string {
	if d.Set == MovingScenes {
		return fmt.Sprintf("clips of %d frames", d.Frames)
	}
	return "pictures"
}

// Videos reports whether bags have several frames.
func (d *Config) Videos() bool {
	return d.Set == MovingScenes || d.Set == MSRVTT || d.Set == Clips || d.ManifestOfClips
}

// VideoLevels lists all levels.
func VideoLevels() []VideoLevel { return []VideoLevel{LevelAuto, LevelFrame, LevelVideo} }
