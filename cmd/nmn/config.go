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
	// Train.Noise; with the recipe estimate also folds:N, nets that estimate them.
	Rates string `yaml:"rates"`
	// Recipe says how stage 2 comes by its noise model.
	Recipe recipeConfig `yaml:"recipe,omitempty"`
	// EachEpoch evaluates after every epoch as at the end, and keeps the figures.
	EachEpoch bool      `yaml:"each_epoch,omitempty"`
	Run       runConfig `yaml:"run"`
	byDefault bool      // nobody has chosen the recipe and its arm

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
