package dataset

import (
	"cmp"
	"fmt"
	"slices"

	"nmn/internal/setting"
	"nmn/loader/features"
	"nmn/loader/manifest"
	"nmn/loader/picture"
	"nmn/text"
)

// Kind is where data come from.
type Kind string

// The kinds of data.
const (
	Scenes       Kind = "scenes"        // pictures that are made up, with captions; they need no files
	MovingScenes Kind = "moving-scenes" // clips of such
	Captions     Kind = "captions"      // pictures with the captions of COCO
	MSRVTT       Kind = "msrvtt"        // frames of videos with the captions of MSR-VTT
	Clips        Kind = "clips"         // frames of videos in shards, with labels next to them
	Features     Kind = "features"      // vectors with labels
	Manifest     Kind = "manifest"      // a list of pictures or clips, with labels by name
)

// kinds lists all kinds.
func kinds() []Kind {
	return []Kind{Scenes, MovingScenes, Captions, MSRVTT, Clips, Features, Manifest}
}

// Values lists all kinds.
func (Kind) Values() []string { return setting.Texts(kinds()) }

// VideoLevel is the kind of training sample of videos.
type VideoLevel string

// The levels.
const (
	LevelAuto  VideoLevel = "auto"  // video with MIL, frame without: the two rows of the paper's Table 3
	LevelFrame VideoLevel = "frame" // a frame has the labels of its video, a test video the maximum over its frames
	LevelVideo VideoLevel = "video" // a video is a bag of the cells of all its frames
)

// Config selects the pictures and labels.
type Config struct {
	Set  Kind   `yaml:"set" help:"<kind> of data"`
	Seed uint64 `yaml:"seed" help:"<seed> of scenes, label noise and splits"`

	// Scenes: pictures of each split, or clips and the frames of each.
	TrainSize      int `yaml:"train_size" help:"scenes: training <pictures>, or clips of moving scenes" range:"[0,]"`
	ValidationSize int `yaml:"validation_size" help:"scenes: validation <pictures> or clips, 0 for none" range:"[0,]"`
	TestSize       int `yaml:"test_size" help:"scenes: test <pictures> or clips" range:"[0,]"`
	Frames         int `yaml:"frames,omitempty" help:"moving scenes: <frames> of each clip" range:"[0,]"`

	// VideoLevel selects what a training sample is if bags have several frames.
	VideoLevel VideoLevel `yaml:"video_level,omitempty" help:"what a sample of videos is: a frame or a whole video; auto is video with MIL" values:"auto,frame,video"`

	// Captions: COCO files. Without validation captions, shares of the training pictures are held out.
	Captions        string  `yaml:"captions" help:"COCO caption <file> of the training pictures"`
	Images          string  `yaml:"images" help:"<folder> of the training pictures, or of the frames of clips"`
	ValCaptions     string  `yaml:"val_captions" help:"COCO caption <file> of validation and test pictures"`
	ValImages       string  `yaml:"val_images" help:"<folder> of their pictures; empty for that of the training pictures"`
	ValidationShare float64 `yaml:"validation_share" help:"<share> of the training data held out for validation, if no file names any" range:"[0,1)"`
	TestShare       float64 `yaml:"test_share" help:"<share> of the training data held out for the test, if no file names any" range:"[0,1)"`
	ValidationIDs   string  `yaml:"validation_ids" help:"<file> with the identifiers of the validation pictures"`
	TestIDs         string  `yaml:"test_ids" help:"<file> with the identifiers of the test pictures"`
	CaptionsPerBag  int     `yaml:"captions_per_bag" help:"<captions> of each picture that count, the first by annotation id" range:"[1,]"`
	Vocabulary      string  `yaml:"vocabulary" help:"vocabulary <file>: a word, part of speech and count on each line; empty builds one"`
	VocabularySize  int     `yaml:"vocabulary_size" help:"most frequent <words> of a vocabulary that is built" range:"[1,]"`
	MinCount        int     `yaml:"min_count" help:"least <occurrences> of a word of a vocabulary that is built" range:"[0,]"`
	// KeepFunctionWords has words such as "a", "on" and "of" become classes of a vocabulary built from captions.
	KeepFunctionWords bool `yaml:"keep_function_words" help:"let words such as a, on and of become classes of a vocabulary built from captions"`

	// MSR-VTT: the annotations of its clips, and a folder of their frames.
	MSRVTT    string `yaml:"msrvtt,omitempty" help:"MSR-VTT: annotation <file> of its clips, or the zip archive that holds it"`
	FramesDir string `yaml:"frames_dir,omitempty" help:"MSR-VTT: <folder> of the clips' frames, as nmn frames writes it"`

	// Clips: folders of frames and the labels next to them, one for each split.
	Clips     string `yaml:"clips,omitempty" help:"<folder> of the frames and labels of training clips, as nmn frames writes it"`
	ValClips  string `yaml:"val_clips,omitempty" help:"<folder> of validation clips"`
	TestClips string `yaml:"test_clips,omitempty" help:"<folder> of test clips"`
	// ClipLabels is another file of labels for the frames in Clips; empty for the file next to them.
	ClipLabels string `yaml:"clip_labels,omitempty" help:"<file> of labels for the training clips, in place of the one in their folder"`
	// ShuffleBlock neighbours in the files of Clips come together, and ShuffleWindow blocks are mixed with each
	// other; 0 neighbours mix all with all.
	ShuffleBlock  int `yaml:"shuffle_block,omitempty" help:"clips: neighbouring <clips> of a file that stay together; 0 mixes all" range:"[0,]"`
	ShuffleWindow int `yaml:"shuffle_window,omitempty" help:"clips: <blocks> of neighbours that are mixed with each other" range:"[0,]"`

	// Manifest: a list of pictures, or of clips as frames, with labels by name, or a folder of pictures and
	// labels. Images is the folder of the pictures, or of the frames of the clips, empty for the folder of
	// the manifest. Images alone is a folder with a subfolder for each label.
	Manifest      string        `yaml:"manifest,omitempty" help:"<file> or folder of pictures or clips with labels by name (docs/guide/labels.md)"`
	LabelForm     manifest.Form `yaml:"label_form,omitempty" help:"<form> in which the manifest states labels; empty finds it"`
	PathColumn    string        `yaml:"path_column,omitempty" help:"<column> of a manifest that names the pictures; empty finds it"`
	JoinLabels    bool          `yaml:"join_labels,omitempty" help:"join labels that differ only in case, blanks, hyphens or underscores"`
	SkipDifficult bool          `yaml:"skip_difficult,omitempty" help:"Pascal VOC: ignore objects that are marked difficult"`

	// Features: files of vectors.
	Features FeatureConfig `yaml:"features"`

	// Evidence is a file of log-likelihood ratios, .npy or .csv, that the classifier learns in place of the training
	// labels: a row for each bag before validation and test are held out, or rows that name their bags.
	Evidence string `yaml:"evidence,omitempty" help:"<file> of log-likelihood ratios to learn in place of labels (docs/guide/evidence.md)"`

	// Noise is injected into the training labels: a share of captions to replace, or a file.
	Noise     float64 `yaml:"noise" help:"<share> of each training picture's captions to replace by captions of other pictures" range:"[0,1)"`
	NoiseFile string  `yaml:"noise_file" help:"noise <file> of nmn noise, in place of a share"`
	// Flips inject noise by flipping labels: both rates, the largest relative deviation of a class's rates
	// from them, or a file with the rates of each class.
	Flips      FlipLevel   `yaml:"flips" help:"probabilities of flipping labels of training and validation, <missing:incorrect>"`
	FlipSpread float64     `yaml:"flip_spread" help:"<share> by which the flip rates of each class differ from these at most" range:"[0,1)"`
	FlipRates  string      `yaml:"flip_rates" help:"<file> with the flip rates of each class: word, q01, q10"`
	NoiseSeed  uint64      `yaml:"noise_seed" help:"<seed> of label noise; 0 for that of the data"`
	Fit        picture.Fit `yaml:"fit" help:"how pictures get onto the canvas; empty is longest with MIL on vgg16 and ResNets, else square" values:"longest,square,none"`
	// Resize is the filter for resizing pictures, and Orientation the handling of the orientation in their
	// files. Empty values mean bilinear and ignore.
	Resize      picture.Filter      `yaml:"resize,omitempty" help:"<filter> for resizing; antialias is that of Pillow and torchvision" values:"antialias,bicubic,bilinear"`
	Orientation picture.Orientation `yaml:"orientation,omitempty" help:"whether the Exif orientation of a picture is applied" values:"apply,ignore"`

	MaxBadSamples int `yaml:"max_bad_samples" help:"<pictures> or clips that cannot be used and are left out before training stops" range:"[0,]"`
	MaxPixels     int `yaml:"max_pixels" help:"largest picture that is decoded, in <pixels>" range:"[0,]"`

	// ManifestOfClips is set if rows of the manifest have several frames, which is known after reading it.
	ManifestOfClips bool `yaml:"-"`

	// PackedLabels accepts labels that look like lists in one string, for inspecting the data before a run;
	// otherwise they are refused.
	PackedLabels bool `yaml:"-"`

	// VocabularyOfModel is set if Vocabulary comes from a model, and was not chosen by the user.
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

// Bags returns the plural noun for samples of the scenes.
func (d *Config) Bags() string {
	if d.Set == MovingScenes {
		return fmt.Sprintf("clips of %d frames", d.Frames)
	}
	return "pictures"
}

// Samples returns the noun for labelled items: pictures, clips or rows.
func (d *Config) Samples() text.Plural {
	switch {
	case d.Videos():
		return "clips"
	case d.Set == Features:
		return "rows"
	}
	return "pictures"
}

// Videos reports whether bags have several frames.
func (d *Config) Videos() bool {
	return d.Set == MovingScenes || d.Set == MSRVTT || d.Set == Clips || d.ManifestOfClips
}

// VideoLevels lists all levels.
func VideoLevels() []VideoLevel { return []VideoLevel{LevelAuto, LevelFrame, LevelVideo} }
