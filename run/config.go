package run

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"nmn/kernels/tensor"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/loader/picture"
	"nmn/model"
	"nmn/model/backbone"
	"nmn/model/vit"
	"nmn/recipe"
	"nmn/train"
)

// Config is everything that makes a run: where the data comes from, which net learns, how, and on which device. It
// comes from Preset, is changed field by field, and is completed and checked by Open. It is written to the run folder,
// and reading that file back gives the same run.
type Config struct {
	// Preset names the values that all others are laid over.
	Preset PresetName `yaml:"preset"`
	// Size selects the quick or the full form of a preset of scenes.
	Size Size `yaml:"size"`
	// Arm is what is trained; empty leaves the choice to the recipe.
	Arm   recipe.Name    `yaml:"arm"`
	Data  dataset.Config `yaml:"data"`
	Net   NetConfig      `yaml:"net"`
	Train train.Config   `yaml:"train"`
	// Stage1 is a checkpoint of stage 1 that stage 2 starts from; empty trains stage 1 first.
	Stage1 string `yaml:"stage1"`
	// Rates is a file of the noise model's rates at the start, for each word, instead of those of
	// Train.Noise; with the recipe estimate also folds:N, nets that estimate them.
	Rates string `yaml:"rates"`
	// Recipe says how stage 2 comes by its noise model.
	Recipe recipe.Config `yaml:"recipe,omitempty"`
	// EachEpoch evaluates after every epoch as at the end, and keeps the figures.
	EachEpoch bool      `yaml:"each_epoch,omitempty"`
	Run       Resources `yaml:"run"`
	byDefault bool      // the recipe and its arm were not chosen
	given     []string  // keys of the settings that were given where it was resolved
	ofRun     bool      // it was read from the folder of a run

	// Build says which program wrote the file; it is not read back.
	Build *Build `yaml:"build,omitempty"`
}

// PresetName names a preset.
type PresetName string

// The presets, as nmn train --preset names them.
const (
	ScenesPreset       PresetName = "scenes"
	MovingScenesPreset PresetName = "moving-scenes"
	PaperCOCOPreset    PresetName = "paper-coco"
	PaperMSRVTTPreset  PresetName = "paper-msrvtt"
	FeaturesPreset     PresetName = "features"
)

// Size is how much a preset of scenes makes and trains.
type Size string

// The sizes of presets of scenes.
const (
	Quick Size = "quick" // minutes on a laptop
	Full  Size = "full"  // more pictures, or clips of more frames, and longer training
	Auto  Size = "auto"  // of an experiment: full where it fits the budget
)

// NetName names the known net to which a NetConfig lists changes.
type NetName string

// The nets.
const (
	NetVGG16  NetName = "vgg16"
	NetScenes NetName = "scenes"
	NetMLP    NetName = "mlp" // on features: hidden layers and one logit for each class
	// The residual nets are those of model.ResNets.
	NetResNet18  NetName = "resnet18"
	NetResNet34  NetName = "resnet34"
	NetResNet50  NetName = "resnet50"
	NetResNet101 NetName = "resnet101"
)

// NetNames lists all nets.
func NetNames() []NetName { return append([]NetName{NetVGG16, NetScenes, NetMLP}, ResNetNames()...) }

// ResNetNames lists the residual nets.
func ResNetNames() (names []NetName) {
	for _, name := range model.ResNets() {
		names = append(names, NetName(name))
	}
	return names
}

// IsResNet reports whether a net is a residual one.
func (n NetName) IsResNet() bool { return slices.Contains(model.ResNets(), string(n)) }

// NetConfig describes the net as changes to a known one; 0 and empty keep what that one has.
type NetConfig struct {
	Arch      NetName `yaml:"arch"`
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
	// Pixels says how wide the numbers are that VGG16 sees; residual nets see unit.
	Pixels      PixelRange `yaml:"pixels"`
	NoisePool   string     `yaml:"noise_pool"`
	NoiseDetach bool       `yaml:"noise_detach"`
	// Weights is a file that the classifier starts from, empty for a random start. Of those of other
	// programs the last layer is left, unless WeightsClassifier asks for it. WeightsChannels is the order of a
	// picture's channels in it, empty for that of its format.
	Weights           string       `yaml:"weights"`
	WeightsChannels   ChannelOrder `yaml:"weights_channels,omitempty"`
	WeightsClassifier bool         `yaml:"weights_classifier,omitempty"`
	// Backbone is a file of a pretrained net (package backbone) that features of the pictures are taken from, for the
	// net mlp to learn; InputSize is that of its input then. BackboneLayer is empty for its usual layer.
	Backbone      string      `yaml:"backbone,omitempty"`
	BackboneLayer model.Layer `yaml:"backbone_layer,omitempty"`
	// These say what tensors do not (package backbone); 0 and empty are as in the published nets of a layout.
	// BackboneMean and BackboneDeviation are of red, green and blue, from 0 to 1.
	BackboneGELU      vit.GELU  `yaml:"backbone_gelu,omitempty"`
	BackboneHeads     int       `yaml:"backbone_heads,omitempty"`
	BackboneResize    int       `yaml:"backbone_resize,omitempty"`
	BackboneMean      []float32 `yaml:"backbone_mean,flow,omitempty"`
	BackboneDeviation []float32 `yaml:"backbone_deviation,flow,omitempty"`
}

// BackboneOptions are what the configuration says of a pretrained net beside its file.
func (n *NetConfig) BackboneOptions() backbone.Options {
	return backbone.Options{Size: n.InputSize, Resize: n.BackboneResize, Mean: n.BackboneMean,
		Deviation: n.BackboneDeviation, GELU: n.BackboneGELU, Heads: n.BackboneHeads}
}

// hasBackboneOptions reports whether anything is said that is of a pretrained net alone.
func (n *NetConfig) hasBackboneOptions() bool {
	return n.BackboneLayer != "" || n.BackboneResize != 0 || n.BackboneGELU != "" || n.BackboneHeads != 0 ||
		len(n.BackboneMean)+len(n.BackboneDeviation) > 0
}

// ChannelOrder is the order of the channels of a picture in a file of weights.
type ChannelOrder string

// The orders of channels.
const (
	ChannelsRGB ChannelOrder = "rgb"
	ChannelsBGR ChannelOrder = "bgr"
)

// PixelRange is how wide the numbers are that VGG16 sees.
type PixelRange string

// The ranges of pixels.
const (
	// PixelsUnit divides by the deviation over ImageNet: what torchvision's weights were trained with,
	// and what He initialisation assumes. Without it a random start diverges at the paper's rate.
	PixelsUnit PixelRange = "unit"
	// PixelsRaw subtracts the mean alone: what the Caffe release of VGG16 was trained with.
	PixelsRaw PixelRange = "raw"
)

// Resources is what a run computes with: it changes no result, or its last bits.
type Resources struct {
	// Device is auto, cpu, cuda, or cuda:n for the graphics card of number n; empty is auto, the fastest there is.
	Device string `yaml:"device"`
	// Precision is that of the device once it is open: the file of a run tells what it was trained in.
	Precision    tensor.Precision `yaml:"precision"`
	ConvExact    bool             `yaml:"conv_exact"` // no Winograd on the CPU; a run keeps to what it began with
	SyncLaunches bool             `yaml:"sync_launches,omitempty"`
	NoGraphs     bool             `yaml:"no_graphs,omitempty"`
	NVTX         bool             `yaml:"nvtx,omitempty"`
	Threads      int              `yaml:"threads"`  // of the CPU, 0 for one on each processor
	Workers      int              `yaml:"workers"`  // goroutines that read bags
	Prefetch     int              `yaml:"prefetch"` // batches that are read ahead
	TensorBoard  bool             `yaml:"tensorboard,omitempty"`
	LabelMemory  int              `yaml:"label_memory"` // MiB of labels of clips that are held in memory
	// Gradients is the precision in which gradients travel between ranks: fp32, also where it is empty, or bf16.
	Gradients string `yaml:"gradients,omitempty"`
	// VerifyData compares pictures and frames by their content when a run goes on, not by size and time alone.
	VerifyData bool `yaml:"verify_data,omitempty"`
}

// Model is the net's configuration for a number of classes and a noise model; width is that of the
// features, where the net is one on features.
func (n *NetConfig) Model(classes, width int, noise model.NoiseMode) model.Config {
	if n.Arch == NetMLP {
		m := model.MLP(width, classes, n.Hidden)
		if n.Width != 1 {
			m = m.Narrow(n.Width)
		}
		m.Noise, m.NoiseDetach, m.MIL = noise, n.NoiseDetach, n.MIL
		if n.Dropout != -1 {
			m.Dropout = n.Dropout
		}
		return m
	}
	m := model.VGG16(classes, n.MIL)
	switch {
	case n.Arch == NetScenes:
		m = model.Scenes(classes, n.MIL)
	case n.Arch.IsResNet():
		m, _ = model.ResNet(string(n.Arch), classes, n.MIL) // it is one of them
	}
	if n.Arch == NetVGG16 && n.Pixels != PixelsRaw {
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

// Fit is how pictures get onto the canvas: as the data say, else as nets of this kind are usually trained.
func (c *Config) Fit() picture.Fit {
	switch {
	case c.Data.Fit != "":
		return c.Data.Fit
	case c.Net.MIL && (c.Net.Arch == NetVGG16 || c.Net.Arch.IsResNet()):
		return picture.FitLongest
	}
	return picture.FitSquare
}

// YAML is the configuration as a file that Sources read.
func (c *Config) YAML() ([]byte, error) { return yaml.Marshal(c) }

// Loader is how pictures are read.
func (c *Config) Loader() loader.Config {
	l := loader.DefaultConfig()
	l.Fit, l.Workers, l.Prefetch = c.Fit(), c.Run.Workers, c.Run.Prefetch
	l.Resize, l.Orientation = c.Data.Resize, c.Data.Orientation
	l.Block, l.Window = c.Data.ShuffleBlock, c.Data.ShuffleWindow
	l.MaxBadSamples, l.MaxPixels = c.Data.MaxBadSamples, c.Data.MaxPixels
	return l
}
