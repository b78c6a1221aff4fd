package main

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"nmn/kernels/tensor"
	"nmn/loader/picture"
	"nmn/model"
	"nmn/train"
)

// config is everything that makes a run: where the data comes from, which net learns, how, and on
// what. It is written to the run folder, and reading that file back gives the same run.
type config struct {
	// Preset names the values that the file and the flags are laid over.
	Preset presetName `yaml:"preset"`
	// Size selects the scenes preset's quick or full form.
	Size sizeName `yaml:"size"`
	// Arm is what stage 2 trains.
	Arm   armName      `yaml:"arm"`
	Data  dataConfig   `yaml:"data"`
	Net   netConfig    `yaml:"net"`
	Train train.Config `yaml:"train"`
	// Stage1 is a checkpoint of stage 1 that stage 2 starts from; empty trains stage 1 first.
	Stage1 string `yaml:"stage1"`
	// Rates is a file of the noise model's rates at the start, for each word, instead of those of
	// Train.Noise; with the recipe crossfit also folds:N, nets that estimate them.
	Rates string `yaml:"rates"`
	// Recipe says how stage 2 comes by its noise model.
	Recipe recipeConfig `yaml:"recipe,omitempty"`
	// EachEpoch evaluates after every epoch as at the end, and keeps the figures.
	EachEpoch bool      `yaml:"each_epoch,omitempty"`
	Run       runConfig `yaml:"run"`
	usual     bool      // the recipe and its arm are those of a default

	// Build tells which program wrote the file; it is not read back.
	Build *build `yaml:"build,omitempty"`
}

type presetName string

const (
	presetScenes      presetName = "scenes"
	presetMoving      presetName = "moving-scenes"
	presetPaperCOCO   presetName = "paper-coco"
	presetPaperMSRVTT presetName = "paper-msrvtt"
	presetFeatures    presetName = "features"
)

type sizeName string

const (
	sizeQuick sizeName = "quick"
	sizeFull  sizeName = "full"
	sizeAuto  sizeName = "auto" // of experiment: full where it fits the budget
)

type dataSet string

const (
	dataScenes   dataSet = "scenes"
	dataMoving   dataSet = "moving-scenes"
	dataCaptions dataSet = "captions"
	dataMSRVTT   dataSet = "msrvtt"
	dataClips    dataSet = "clips"
	dataFeatures dataSet = "features"
	dataManifest dataSet = "manifest"
)

func dataSources() []dataSet {
	return []dataSet{dataScenes, dataMoving, dataCaptions, dataMSRVTT, dataClips, dataFeatures, dataManifest}
}

type videoLevel string

const (
	levelAuto  videoLevel = "auto"  // video with MIL, frame without: the two rows of the paper's Table 3
	levelFrame videoLevel = "frame" // each frame with the labels of its video; a test video has the maximum over its frames
	levelVideo videoLevel = "video" // a video is a bag of the cells of all its frames
)

// dataConfig says which pictures and labels there are.
type dataConfig struct {
	Set  dataSet `yaml:"set"`
	Seed uint64  `yaml:"seed"` // of the scenes, of label noise and of the split

	// Scenes: pictures of each split, or clips and the frames of each.
	TrainSize      int `yaml:"train_size"`
	ValidationSize int `yaml:"validation_size"`
	TestSize       int `yaml:"test_size"`
	Frames         int `yaml:"frames,omitempty"`

	// VideoLevel says what a training sample is where bags have several frames.
	VideoLevel videoLevel `yaml:"video_level,omitempty"`

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

	// MSR-VTT: the annotations of its clips, and a folder of their frames.
	MSRVTT    string `yaml:"msrvtt,omitempty"`
	FramesDir string `yaml:"frames_dir,omitempty"`

	// Clips: folders of frames with labels beside them, one for each split.
	Clips     string `yaml:"clips,omitempty"`
	ValClips  string `yaml:"val_clips,omitempty"`
	TestClips string `yaml:"test_clips,omitempty"`
	// ShuffleBlock neighbours in the files of Clips come together, and ShuffleWindow blocks are mixed with each
	// other; 0 neighbours mix all with all.
	ShuffleBlock  int `yaml:"shuffle_block,omitempty"`
	ShuffleWindow int `yaml:"shuffle_window,omitempty"`

	// Manifest: a list of pictures, or of clips as frames, with labels by name. Images is their folder, empty
	// for that of the list.
	Manifest string `yaml:"manifest,omitempty"`

	// Features: files of vectors.
	Features featureConfig `yaml:"features"`

	// Noise is injected into the training labels: a rate of caption replacement, or a file.
	Noise     float64 `yaml:"noise"`
	NoiseFile string  `yaml:"noise_file"`
	// Flips inject noise by flipping labels: both rates, how far those of a class lie from them at most
	// (a share of the rate), or a file with those of each class.
	Flips      flipLevel   `yaml:"flips"`
	FlipSpread float64     `yaml:"flip_spread"`
	FlipRates  string      `yaml:"flip_rates"`
	NoiseSeed  uint64      `yaml:"noise_seed"` // 0: that of the data
	Fit        picture.Fit `yaml:"fit"`        // empty: longest side with MIL, square without

	MaxBadSamples int `yaml:"max_bad_samples"`
	MaxPixels     int `yaml:"max_pixels"`

	clips      bool // the rows of the manifest that was read have several frames
	modelWords bool // Vocabulary is that of a model, not one that somebody has named
}

type netName string

const (
	netVGG16  netName = "vgg16"
	netScenes netName = "scenes"
	netMLP    netName = "mlp" // on features: hidden layers and one logit for each class
)

// netConfig describes the net as changes to a known one; 0 and empty keep what that one has.
type netConfig struct {
	Arch      netName `yaml:"arch"`
	MIL       bool    `yaml:"mil"`
	Width     float64 `yaml:"width"` // multiplies the channels of all hidden layers
	InputSize int     `yaml:"input_size"`
	Depths    []int   `yaml:"depths,flow"`
	Widths    []int   `yaml:"widths,flow"`
	FC6       int     `yaml:"fc6"`
	FC7       int     `yaml:"fc7"`
	FC6Kernel int     `yaml:"fc6_kernel"`
	FC6Pad    int     `yaml:"fc6_pad"`
	Hidden    []int   `yaml:"hidden,flow"` // widths of the hidden layers of mlp; none makes it linear
	Dropout   float64 `yaml:"dropout"`     // -1 keeps the net's own
	// Pixels says how wide the numbers are that VGG16 sees.
	Pixels      pixelRange `yaml:"pixels"`
	NoisePool   string     `yaml:"noise_pool"`
	NoiseDetach bool       `yaml:"noise_detach"`
	// Weights is a file that the classifier starts from, empty for a random start. Of those of other
	// programs the last layer is left, unless WeightsClassifier asks for it. WeightsChannels is the order of a
	// picture's channels in it, empty for that of its format.
	Weights           string       `yaml:"weights"`
	WeightsChannels   channelOrder `yaml:"weights_channels,omitempty"`
	WeightsClassifier bool         `yaml:"weights_classifier,omitempty"`
}

type channelOrder string

const (
	channelsRGB channelOrder = "rgb"
	channelsBGR channelOrder = "bgr"
)

type pixelRange string

const (
	// pixelsUnit divides by the deviation over ImageNet: what torchvision's weights were trained with,
	// and what He initialisation assumes. Without it a random start diverges at the paper's rate.
	pixelsUnit pixelRange = "unit"
	// pixelsRaw subtracts the mean alone: what the Caffe release of VGG16 was trained with.
	pixelsRaw pixelRange = "raw"
)

// runConfig is what changes no result, or its last bits.
type runConfig struct {
	Device string `yaml:"device"`
	// Precision is that of the device once it is open: the file of a run tells what it was trained in.
	Precision    tensor.Precision `yaml:"precision"`
	ConvExact    bool             `yaml:"conv_exact"` // no Winograd on the CPU; a run keeps to what it began with
	SyncLaunches bool             `yaml:"sync_launches,omitempty"`
	NoGraphs     bool             `yaml:"no_graphs,omitempty"`
	NVTX         bool             `yaml:"nvtx,omitempty"`
	Threads      int              `yaml:"threads"`
	Workers      int              `yaml:"workers"`
	Prefetch     int              `yaml:"prefetch"`
	TensorBoard  bool             `yaml:"tensorboard,omitempty"`
	LabelMemory  int              `yaml:"label_memory"` // MiB of labels of clips that are held in memory
}

// model is the net's configuration for a number of classes and a noise model; width is that of the
// features, where the net is one on features.
func (n *netConfig) model(classes, width int, noise model.NoiseMode) model.Config {
	if n.Arch == netMLP {
		m := model.MLP(width, classes, n.Hidden)
		if n.Width != 1 {
			m = m.Narrow(n.Width)
		}
		m.Noise, m.NoiseDetach = noise, n.NoiseDetach
		if n.Dropout != -1 {
			m.Dropout = n.Dropout
		}
		return m
	}
	m := model.VGG16(classes, n.MIL)
	if n.Arch == netScenes {
		m = model.Scenes(classes, n.MIL)
	}
	if n.Arch == netVGG16 && n.Pixels != pixelsRaw {
		for i, deviation := range [3]float32{.229, .224, .225} { // of R, G, B, from 0 to 1
			m.Scale[i] = 1 / (255 * deviation)
		}
	}
	m = m.Narrow(n.Width)
	m.Noise, m.NoisePool, m.NoiseDetach = noise, n.NoisePool, n.NoiseDetach
	for _, change := range []struct {
		to   *int
		from int
	}{{&m.Size, n.InputSize}, {&m.FC6, n.FC6}, {&m.FC7, n.FC7}, {&m.FC6Kernel, n.FC6Kernel}, {&m.FC6Pad, n.FC6Pad}} {
		if change.from != 0 {
			*change.to = change.from
		}
	}
	if len(n.Depths) > 0 {
		m.Depths = slices.Clone(n.Depths)
	}
	if len(n.Widths) > 0 {
		m.Widths = slices.Clone(n.Widths)
	}
	if n.Dropout != -1 {
		m.Dropout = n.Dropout
	}
	return m
}

// fit is how pictures get onto the canvas.
func (c *config) fit() picture.Fit {
	switch {
	case c.Data.Fit != "":
		return c.Data.Fit
	case c.Net.MIL && c.Net.Arch == netVGG16:
		return picture.FitLongest
	}
	return picture.FitSquare
}

// yaml writes the configuration as a file that --config reads.
func (c *config) yaml() ([]byte, error) { return yaml.Marshal(c) }
