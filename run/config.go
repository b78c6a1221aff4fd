package run

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"nmn/internal/setting"
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
	Preset PresetName `yaml:"preset" help:"<name> of the settings to start from" values:"scenes,moving-scenes,paper-coco,paper-msrvtt,features"`
	// Size selects the quick or the full form of a preset of scenes.
	Size Size `yaml:"size" help:"<size> of the scenes presets: quick is 4,000 pictures, full 16,000" values:"quick,full,auto"`
	// Arm is what is trained; empty leaves the choice to the recipe.
	Arm   recipe.Name    `yaml:"arm" help:"<arm> to train (docs/guide/evaluation.md lists them)"`
	Data  dataset.Config `yaml:"data"`
	Net   NetConfig      `yaml:"net"`
	Train train.Config   `yaml:"train"`
	// Stage1 is a checkpoint of stage 1 that stage 2 starts from; empty trains stage 1 first.
	Stage1 string `yaml:"stage1" help:"start from this checkpoint <file> of stage 1; empty trains stage 1"`
	// NoiseRates is a file with the initial rates of the noise model for each word, instead of the rates of
	// Train.Noise; with the recipe estimate also folds:N, nets that estimate them.
	NoiseRates string        `yaml:"noise_rates" help:"take noise rates from this <source>: a file, folds:N or online; files have q01 and q10"`
	Recipe     recipe.Config `yaml:"recipe,omitempty"` // says how stage 2 comes by its noise model
	// EachEpoch evaluates after every epoch as at the end, and keeps the figures.
	EachEpoch bool      `yaml:"each_epoch,omitempty" help:"run the final evaluation after every epoch too, and write epochs.json"`
	Run       Resources `yaml:"run"`
	Chosen    []Choice  `yaml:"chosen,omitempty"` // the settings that were left open and have been chosen since
	Build     *Build    `yaml:"build,omitempty"`  // says which program wrote the file; it is not read back
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
	// The residual nets that model.ResNets lists.
	NetResNet18  NetName = "resnet18"
	NetResNet34  NetName = "resnet34"
	NetResNet50  NetName = "resnet50"
	NetResNet101 NetName = "resnet101"
)

// Values lists all nets.
func (NetName) Values() []string { return setting.Texts(NetNames()) }

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
	Arch        NetName `yaml:"arch" help:"train this <net>"`
	MIL         bool    `yaml:"mil" help:"treat cells of the score map as instances, joined by noisy-or"`
	Width       float64 `yaml:"width" help:"multiply the channels of all hidden layers by this <factor>" range:"(0,16]"`
	InputSize   int     `yaml:"input_size" help:"resize pictures to this many <pixels>; 0 for the network's own" range:"[0,]"`
	Depths      []int   `yaml:"depths,flow" help:"convolutions of each block, as <n,n,...>; empty for the network's own"`
	Widths      []int   `yaml:"widths,flow" help:"channels of each block, as <n,n,...>; empty for the network's own"`
	FC6         int     `yaml:"fc6" help:"<channels> of fc6; 0 for the network's own" range:"[0,]"`
	FC7         int     `yaml:"fc7" help:"<channels> of fc7; 0 for the network's own" range:"[0,]"`
	FC6Kernel   int     `yaml:"fc6_kernel" help:"height and width of fc6 in <cells>; 0 for the network's own" range:"[0,]"`
	FC6Pad      int     `yaml:"fc6_pad" help:"<cells> of padding around fc6; 0 for the network's own" range:"[0,]"`
	Hidden      []int   `yaml:"hidden,flow" help:"mlp: widths of the hidden layers, as <n,n,...>; empty for a linear classifier"`
	Dropout     float64 `yaml:"dropout" help:"<share> of fc6, fc7 or hidden units that dropout removes; -1 is the network's own" range:"[-1,1)"`
	NoisePool   string  `yaml:"noise_pool" help:"<pooling> of the noise model's input features" values:"mean,max"`
	NoiseDetach bool    `yaml:"noise_detach" help:"do not pass the noise model's gradient on to the features"`
	// Weights is a file that the classifier starts from, empty for a random start. The last layer of files
	// by other programs is left out, unless WeightsClassifier asks for it.
	Weights           string `yaml:"weights" help:"start the classifier from this <file> of weights; .pth, .safetensors or .npz"`
	WeightsClassifier bool   `yaml:"weights_classifier,omitempty" help:"take the last layer from net.weights too"`
	// Backbone is a file of a pretrained net (package backbone) that features of the pictures are taken from, for the
	// net mlp to learn; InputSize is that of its input then. BackboneLayer is empty for its usual layer.
	Backbone      string      `yaml:"backbone,omitempty" help:"compute features once with this pretrained net, a <file> or name"`
	BackboneLayer model.Layer `yaml:"backbone_layer,omitempty" help:"<layer> of the backbone with the features; empty takes the usual one" values:"cls,mean,cls+mean,embedding,pool5,fc7"`
	// These settings give what tensors do not hold (package backbone); 0 and empty stand for the values of the
	// published nets of a layout. BackboneMean and BackboneDeviation are for red, green and blue, from 0 to 1.
	BackboneGELU      vit.GELU  `yaml:"backbone_gelu,omitempty" help:"transformers: <form> of GELU; empty takes the usual one of the net" values:"exact,tanh,quick"`
	BackboneHeads     int       `yaml:"backbone_heads,omitempty" help:"transformers: <number> of attention heads; 0 is width/64" range:"[0,]"`
	BackboneResize    int       `yaml:"backbone_resize,omitempty" help:"resize the shorter side to this many <pixels> before cropping; 0 takes the net's own ratio" range:"[0,]"`
	BackboneMean      []float32 `yaml:"backbone_mean,flow,omitempty" help:"mean colour that the net subtracts, <red,green,blue> from 0 to 1; empty takes the usual one"`
	BackboneDeviation []float32 `yaml:"backbone_deviation,flow,omitempty" help:"deviation that the net divides by, <red,green,blue> from 0 to 1; empty takes the usual one"`
}

// BackboneOptions returns the settings of a pretrained net, apart from its file.
func (n *NetConfig) BackboneOptions() backbone.Options {
	return backbone.Options{Size: n.InputSize, Resize: n.BackboneResize, Mean: n.BackboneMean,
		Deviation: n.BackboneDeviation, GELU: n.BackboneGELU, Heads: n.BackboneHeads}
}

// hasBackboneOptions reports whether a setting is given that only a pretrained net has.
func (n *NetConfig) hasBackboneOptions() bool {
	return n.BackboneLayer != "" || n.BackboneResize != 0 || n.BackboneGELU != "" || n.BackboneHeads != 0 ||
		len(n.BackboneMean)+len(n.BackboneDeviation) > 0
}

// Resources is what a run computes with: it changes no result, or its last bits.
type Resources struct {
	// Device is auto, cpu, cuda, or cuda:n for the graphics card of number n; empty is auto, the fastest there is.
	Device string `yaml:"device" help:"compute on this <device>: auto, cpu, cuda or cuda:n"`
	// Precision is the device's precision once it is open: the file of a run records the precision of its training.
	Precision    tensor.Precision `yaml:"precision" help:"compute in this number <format>; auto is bf16 on cards with it, otherwise fp32" values:"auto,fp32,tf32,bf16"`
	ConvExact    bool             `yaml:"conv_exact" help:"compute convolutions on the CPU without Winograd: slower, about one bit more accurate"`
	SyncLaunches bool             `yaml:"sync_launches,omitempty" help:"wait for each kernel of a graphics card, so that errors name the kernel; slow"`
	NoGraphs     bool             `yaml:"no_graphs,omitempty" help:"launch kernels of a graphics card one by one, not as a CUDA graph"`
	NVTX         bool             `yaml:"nvtx,omitempty" help:"name layers and phases for a profiler such as Nsight Systems"`
	Threads      int              `yaml:"threads" help:"compute with this many <goroutines>; 0 is one for each processor. Results are the same" range:"[0,1024]"`
	Workers      int              `yaml:"workers" help:"load pictures with this many <goroutines>. Results do not depend on it" range:"[1,1024]"`
	Prefetch     int              `yaml:"prefetch" help:"load this many <batches> ahead" range:"[1,1024]"`
	TensorBoard  bool             `yaml:"tensorboard,omitempty" help:"also write files for TensorBoard, in the folder tensorboard of the run"`
	LabelMemory  int              `yaml:"label_memory" help:"keep labels of clips in memory if they take at most this many <MiB>" range:"[0,]"`
	// Gradients is the precision in which gradients travel between ranks: fp32, also where it is empty, or bf16.
	Gradients string `yaml:"gradients,omitempty" help:"number <format> of gradients sent between ranks" values:"fp32,bf16"`
	// VerifyData compares pictures and frames by their whole content when a run goes on, at any size and with any times.
	VerifyData bool `yaml:"verify_data,omitempty" help:"compare files by their whole content when a run continues"`
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
	if n.Arch == NetVGG16 {
		// Torchvision's weights were trained with pixels divided by their deviation over ImageNet, and He initialisation
		// assumes it: without it, a random start diverges at the paper's rate.
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

// Settings are what the recipe and its arms take from the configuration.
func (c *Config) Settings() recipe.Settings {
	return recipe.Settings{Arm: c.Arm, MIL: c.Net.MIL, Stage1: c.Stage1, NoiseRates: c.NoiseRates, Recipe: c.Recipe,
		Train: c.Train, Exclusive: c.Exclusive(), ByFrame: c.ByFrame()}
}

// Choice is a setting that was left open, and why it has its value.
type Choice struct {
	Key string `yaml:"key"`
	Why string `yaml:"why"`
}

// note says why a setting that was left open has its value. The list is in the order of the keys: a run that goes on
// may choose in another order.
func (c *Config) note(key, why string) {
	c.Chosen = slices.Clone(c.Chosen) // copies of a configuration share the list
	i, found := slices.BinarySearchFunc(c.Chosen, key, func(o Choice, key string) int {
		return strings.Compare(o.Key, key)
	})
	if found {
		c.Chosen[i].Why = why
		return
	}
	c.Chosen = slices.Insert(c.Chosen, i, Choice{key, why})
}

// forget takes a setting off the list.
func (c *Config) forget(key string) {
	c.Chosen = slices.DeleteFunc(slices.Clone(c.Chosen), func(o Choice) bool { return o.Key == key })
}

// LeftOpen reports whether a setting was left open.
func (c *Config) LeftOpen(key string) bool {
	return slices.ContainsFunc(c.Chosen, func(o Choice) bool { return o.Key == key })
}

// ConfigError is a setting that is out of range, or does not go with others or with the data: a mistake of the caller,
// not a failure. Its Field is the key of the setting in a configuration file, such as data.noise, and empty where no
// single one is at fault.
type ConfigError = setting.Error
