package dataset

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"nmn/internal/setting"
	"nmn/labels/inject"
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

// Config selects the pictures and labels. The tag of lists the kinds of data that read a setting; without it all do.
type Config struct {
	Set Kind `yaml:"set" help:"<kind> of data"`
	// Classes says whether each bag has exactly one label. Empty is Multi. Auto is resolved when the data are open.
	Classes Classes `yaml:"classes,omitempty" help:"whether each row has exactly one label; empty is auto for pictures, else multi" values:"auto,exclusive,multi"`
	Seed    uint64  `yaml:"seed" help:"<seed> of scenes, label noise and splits"`

	// Scenes: pictures of each split, or clips and the frames of each.
	TrainSize      int `yaml:"train_size" of:"scenes moving-scenes" help:"scenes: training <pictures>, or clips of moving scenes" range:"[0,]"`
	ValidationSize int `yaml:"validation_size" of:"scenes moving-scenes" help:"scenes: validation <pictures> or clips, 0 for none" range:"[0,]"`
	TestSize       int `yaml:"test_size" of:"scenes moving-scenes" help:"scenes: test <pictures> or clips" range:"[0,]"`
	Frames         int `yaml:"frames,omitempty" of:"moving-scenes" help:"moving scenes: <frames> of each clip" range:"[0,]"`

	// VideoLevel selects what a training sample is if bags have several frames.
	VideoLevel VideoLevel `yaml:"video_level,omitempty" of:"moving-scenes msrvtt clips manifest" help:"what one training sample is: a frame or the whole video; auto is video with MIL" values:"auto,frame,video"`

	// Captions: COCO files. Without validation captions, shares of the training pictures are held out.
	Captions          string  `yaml:"captions" of:"captions" help:"caption <file> of the training pictures"`
	Images            string  `yaml:"images" of:"captions manifest" help:"<folder> of the training pictures, or of the frames of clips"`
	ValCaptions       string  `yaml:"val_captions" of:"captions" help:"caption <file> of validation and test pictures"`
	ValImages         string  `yaml:"val_images" of:"captions" help:"<folder> of validation and test pictures; empty for data.images"`
	ValidationShare   float64 `yaml:"validation_share" of:"captions clips features manifest" help:"hold out this <share> of the training data for validation, if no file has validation data" range:"[0,1)"`
	TestShare         float64 `yaml:"test_share" of:"captions clips features manifest" help:"hold out this <share> of the training data as test data, if there are none" range:"[0,1)"`
	ValidationIDs     string  `yaml:"validation_ids" of:"msrvtt captions clips features manifest" help:"<file> with the identifiers of the validation pictures"`
	TestIDs           string  `yaml:"test_ids" of:"msrvtt captions clips features manifest" help:"<file> with the identifiers of the test pictures"`
	CaptionsPerSample int     `yaml:"captions_per_sample" of:"captions msrvtt features manifest" help:"use this many <captions> of each picture, the lowest annotation ids first" range:"[1,]"`
	Vocabulary        string  `yaml:"vocabulary" of:"features captions msrvtt clips manifest" help:"vocabulary <file>: a word, part of speech and count on each line; empty builds one"`
	VocabularySize    int     `yaml:"vocabulary_size" of:"captions msrvtt clips manifest" help:"build the vocabulary from this many of the most frequent <words>" range:"[1,]"`
	MinCount          int     `yaml:"min_count" of:"captions msrvtt clips manifest" help:"leave words with fewer <occurrences> than this out of a built vocabulary" range:"[0,]"`
	// KeepFunctionWords has words such as "a", "on" and "of" become classes of a vocabulary built from captions.
	KeepFunctionWords bool `yaml:"keep_function_words" of:"captions msrvtt" help:"keep words such as a, on and of in a built vocabulary"`

	// MSR-VTT: the annotations of its clips, and a folder of their frames.
	MSRVTT    string `yaml:"msrvtt,omitempty" of:"msrvtt" help:"MSR-VTT: annotation <file>, or the zip archive that contains it"`
	FramesDir string `yaml:"frames_dir,omitempty" of:"msrvtt" help:"MSR-VTT: <folder> of frames, written by nmn frames"`

	// Clips: folders of frames and the labels next to them, one for each split.
	Clips     string `yaml:"clips,omitempty" of:"clips" help:"<folder> of frames and labels of training clips, written by nmn frames"`
	ValClips  string `yaml:"val_clips,omitempty" of:"clips" help:"<folder> of validation clips"`
	TestClips string `yaml:"test_clips,omitempty" of:"clips" help:"<folder> of test clips"`
	// ClipLabels is another file of labels for the frames in Clips; empty for the file next to them.
	ClipLabels string `yaml:"clip_labels,omitempty" of:"clips" help:"<file> of labels for the training clips, used instead of the file in their folder"`
	// ShuffleBlock neighbours in the files of Clips come together, and ShuffleWindow blocks are mixed with each
	// other; 0 neighbours mix all with all.
	ShuffleBlock  int `yaml:"shuffle_block,omitempty" of:"clips" help:"clips: keep this many neighbouring <clips> together when shuffling; 0 shuffles all" range:"[0,]"`
	ShuffleWindow int `yaml:"shuffle_window,omitempty" of:"clips" help:"clips: shuffle this many <blocks> of neighbours with each other" range:"[0,]"`

	// Manifest: a list of pictures, or of clips as frames, with labels by name, or a folder of pictures and
	// labels. Images is the folder of the pictures, or of the frames of the clips, empty for the folder of
	// the manifest. Images alone is a folder with a subfolder for each label.
	Manifest      string        `yaml:"manifest,omitempty" of:"manifest" help:"<file> or folder of pictures or clips with labels by name (docs/guide/labels.md)"`
	LabelForm     manifest.Form `yaml:"label_form,omitempty" of:"manifest" help:"<form> of the labels in the manifest; empty detects it"`
	PathColumn    string        `yaml:"path_column,omitempty" of:"manifest" help:"<column> of the manifest with the names of pictures; empty detects it"`
	JoinLabels    bool          `yaml:"join_labels,omitempty" of:"manifest" help:"join labels that differ only in case, blanks, hyphens or underscores"`
	SkipDifficult bool          `yaml:"skip_difficult,omitempty" of:"manifest" help:"Pascal VOC: ignore objects that are marked difficult"`

	// Features: files of vectors.
	Features FeatureConfig `yaml:"features"`

	// Evidence is a file of log-likelihood ratios, .npy or .csv, that the classifier learns in place of the training
	// labels: a row for each bag before validation and test are held out, or rows that name their bags.
	Evidence string `yaml:"evidence,omitempty" help:"<file> of log-likelihood ratios to learn in place of labels (docs/guide/evidence.md)"`

	// Noise is injected into the training labels: a share of captions to replace, or a file.
	Noise float64 `yaml:"noise" help:"replace this <share> of each training picture's captions by captions of other pictures" range:"[0,1)"`
	// NoiseKind is how captions are replaced; empty is uniform.
	NoiseKind inject.Kind `yaml:"noise_kind,omitempty" help:"how data.noise replaces captions, or one label a row: symmetric, asymmetric (docs/guide/evaluation.md)" values:"uniform,uneven,similar,pair,shift,symmetric,asymmetric"`
	NoiseFile string      `yaml:"noise_file" help:"apply the noise in this <file> of nmn noise instead of drawing noise"`
	// Flips inject noise by flipping labels: both rates, the largest relative deviation of a class's rates
	// from them, or a file with the rates of each class.
	Flips      FlipLevel   `yaml:"flips" help:"flip training and validation labels with these probabilities, <missing:incorrect>"`
	FlipSpread float64     `yaml:"flip_spread" help:"let the flip rates of a class differ from data.flips by at most this <share>" range:"[0,1)"`
	FlipRates  string      `yaml:"flip_rates" help:"<file> with the flip rates of each class: class, q01, q10"`
	NoiseSeed  uint64      `yaml:"noise_seed" help:"<seed> of label noise; 0 takes data.seed"`
	Fit        picture.Fit `yaml:"fit" of:"scenes moving-scenes captions msrvtt clips manifest" help:"fit pictures to the input; empty is longest with MIL on vgg16 and ResNets, else square" values:"longest,square,none"`
	// Resize is the filter for resizing pictures, and Orientation the handling of the orientation in their
	// files. Empty values mean bilinear and ignore.
	Resize      picture.Filter      `yaml:"resize,omitempty" of:"captions msrvtt clips manifest" help:"<filter> for resizing; antialias equals that of Pillow and torchvision" values:"antialias,bicubic,bilinear"`
	Orientation picture.Orientation `yaml:"orientation,omitempty" of:"captions msrvtt clips manifest" help:"apply or ignore the Exif orientation of pictures" values:"apply,ignore"`

	MaxBadSamples int `yaml:"max_bad_samples" of:"features captions msrvtt clips manifest" help:"leave out up to this many unusable <pictures> or clips; more stop the run" range:"[0,]"`
	MaxPixels     int `yaml:"max_pixels" of:"captions msrvtt clips manifest" help:"largest picture to decode, in <pixels>" range:"[0,]"`

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
		Seed: 1, ValidationShare: .1, TestShare: .1, CaptionsPerSample: 5, VocabularySize: 1000, MinCount: 1,
		KeepFunctionWords: true, MaxPixels: picture.DefaultMaxPixels, FlipSpread: .5, ShuffleWindow: 16,
		Features: FeatureConfig{Standardise: true, Missing: MissingError, MemoryLimit: features.DefaultLimit >> 30},
	}
}

// ManifestPath is the file or the folder of the manifest: without one the folder of pictures by label.
func (d *Config) ManifestPath() string { return cmp.Or(d.Manifest, d.Images) }

// Embedded reports whether the data are made, not read.
func (d *Config) Embedded() bool { return d.Set == Scenes || d.Set == MovingScenes }

// Decodes reports whether pictures or frames are decoded from files.
func (d *Config) Decodes() bool {
	return slices.Contains([]Kind{Captions, MSRVTT, Clips, Manifest}, d.Set)
}

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

// FeatureConfig names the files of features and of their labels.
type FeatureConfig struct {
	Train      FeatureFiles `yaml:"train"`
	Validation FeatureFiles `yaml:"validation"` // else a share of Train is held out
	Test       FeatureFiles `yaml:"test"`       // features of the test split and their labels
	IDs        string       `yaml:"ids" help:"<file> with an identifier for each row of the training features"`

	Array        string   `yaml:"array" help:"<name> of the features in .npz and .safetensors files; empty if there is one array"`
	LabelArray   string   `yaml:"label_array" help:"<name> of the labels array in .npz and .safetensors files"`
	LabelColumns []string `yaml:"label_columns,flow" of:"features manifest" help:"columns that are labels, as <pattern,...>, such as label_*"`
	ListColumn   string   `yaml:"list_column" of:"features manifest" help:"<column> that lists all labels of a row; empty detects it"`
	IDColumn     string   `yaml:"id_column" help:"<column> with identifiers; empty is id"`
	SplitColumn  string   `yaml:"split_column" help:"<column> that says train, validation or test; empty is split"`
	Ignore       []string `yaml:"ignore_columns,flow" of:"features manifest" help:"columns that are neither features nor labels, as <pattern,...>"`
	// FeatureColumns are features though they are called as labels are, such as y.
	FeatureColumns []string `yaml:"feature_columns,flow,omitempty" help:"columns that are features although their names, such as y, suggest labels, as <pattern,...>"`

	// Standardise brings every column to mean 0 and deviation 1 over the training split.
	Standardise bool          `yaml:"standardise" help:"scale every feature to mean 0 and deviation 1 over the training split"`
	Missing     MissingValues `yaml:"missing_values" help:"what to do with missing features (empty, ?, NaN): stop, or fill in the column's mean" values:"error,mean"`
	MemoryLimit float64       `yaml:"memory_limit" help:"use at most this many <GiB> of memory for features that cannot stay on disk" range:"(0,1048576]"`
}

// FeatureFiles are the files of one split.
type FeatureFiles struct {
	Features string `yaml:"features" help:"<file> of feature vectors"`
	Labels   string `yaml:"labels" help:"<file> of labels: a 0/1 matrix, lists, or .xml with column names; empty if among features"`
	Truth    string `yaml:"truth" help:"<file> of true labels, used only for evaluation"`
	Counts   string `yaml:"counts" help:"<file> with the number of captions that mention each label"`
}

// MissingValues selects how missing features are handled.
type MissingValues string

// The choices for missing values.
const (
	MissingError MissingValues = "error" // it is an error
	MissingMean  MissingValues = "mean"  // mean of the training split
)

// Options returns the options for reading the files of one split. words are the classes, nil for the classes
// of the file.
func (f *FeatureConfig) Options(of FeatureFiles, words []string) features.Options {
	return features.Options{
		Features: of.Features, Labels: of.Labels, Truth: of.Truth, Counts: of.Counts, Words: words,
		Array: f.Array, LabelArray: f.LabelArray, LabelColumns: f.LabelColumns, ListColumn: f.ListColumn,
		IDColumn:    f.IDColumn,
		SplitColumn: f.SplitColumn, Ignore: f.Ignore, FeatureColumns: f.FeatureColumns, Missing: f.Missing == MissingMean,
		Limit: int64(f.MemoryLimit * (1 << 30)),
	}
}

// HeldOut are the files of another split than training. A list of label names holds for it too.
func (f *FeatureConfig) HeldOut(of FeatureFiles) FeatureFiles {
	if of.Labels == "" && strings.EqualFold(filepath.Ext(f.Train.Labels), ".xml") {
		of.Labels = f.Train.Labels
	}
	return of
}
