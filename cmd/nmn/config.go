package main

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"nmn/loader"
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
	// Train.Noise.
	Rates string    `yaml:"rates"`
	Run   runConfig `yaml:"run"`
	// Build tells which program wrote the file; it is not read back.
	Build *build `yaml:"build,omitempty"`
}

type presetName string

const (
	presetScenes    presetName = "scenes"
	presetPaperCOCO presetName = "paper-coco"
)

type sizeName string

const (
	sizeQuick sizeName = "quick"
	sizeFull  sizeName = "full"
	sizeAuto  sizeName = "auto" // of experiment: full where it fits the budget
)

type armName string

// The arms of the paper: stage 1 alone, and three ways to go on from it.
const (
	armStage1 armName = "stage1"
	armStar   armName = "star" // VGG16*: more epochs without a noise model, the fair baseline
	armFI     armName = "nmn-fi"
	armFD     armName = "nmn-fd"
)

func arms() []armName { return []armName{armStage1, armStar, armFI, armFD} }

// noiseMode is the noise model of stage 2.
func (a armName) noiseMode() model.NoiseMode {
	switch a {
	case armFI:
		return model.FeatureIndependent
	case armFD:
		return model.FeatureDependent
	}
	return model.NoNoise
}

// trained is the arm as package train knows it.
func (a armName) trained(mil bool) (train.Arm, error) {
	name := string(a)
	if mil {
		name += "-mil"
	}
	return train.ArmNamed(name)
}

type dataSet string

const (
	dataScenes   dataSet = "scenes"
	dataCaptions dataSet = "captions"
)

// dataConfig says which pictures and labels there are.
type dataConfig struct {
	Set  dataSet `yaml:"set"`
	Seed uint64  `yaml:"seed"` // of the scenes, of label noise and of the split

	// Scenes: pictures of each split.
	TrainSize      int `yaml:"train_size"`
	ValidationSize int `yaml:"validation_size"`
	TestSize       int `yaml:"test_size"`

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

	// Noise is injected into the training labels: a rate of caption replacement, or a file.
	Noise     float64    `yaml:"noise"`
	NoiseFile string     `yaml:"noise_file"`
	NoiseSeed uint64     `yaml:"noise_seed"` // 0: that of the data
	Fit       loader.Fit `yaml:"fit"`        // empty: longest side with MIL, square without

	MaxBadSamples int `yaml:"max_bad_samples"`
	MaxPixels     int `yaml:"max_pixels"`
}

type netName string

const (
	netVGG16  netName = "vgg16"
	netScenes netName = "scenes"
)

// netConfig describes the net as changes to a known one; 0 and empty keep what that one has.
type netConfig struct {
	Arch        netName `yaml:"arch"`
	MIL         bool    `yaml:"mil"`
	Width       float64 `yaml:"width"` // multiplies the channels of all hidden layers
	InputSize   int     `yaml:"input_size"`
	Depths      []int   `yaml:"depths,flow"`
	Widths      []int   `yaml:"widths,flow"`
	FC6         int     `yaml:"fc6"`
	FC7         int     `yaml:"fc7"`
	FC6Kernel   int     `yaml:"fc6_kernel"`
	FC6Pad      int     `yaml:"fc6_pad"`
	Dropout     float64 `yaml:"dropout"` // -1 keeps the net's own
	NoisePool   string  `yaml:"noise_pool"`
	NoiseDetach bool    `yaml:"noise_detach"`
	// Weights is a .safetensors file that the backbone starts from, empty for a random start.
	Weights string `yaml:"weights"`
}

// runConfig is what does not change results.
type runConfig struct {
	Device   string `yaml:"device"`
	Threads  int    `yaml:"threads"`
	Workers  int    `yaml:"workers"`
	Prefetch int    `yaml:"prefetch"`
}

// presetConfig is where a configuration starts from.
func presetConfig(name presetName, size sizeName) (config, error) {
	c := config{
		Preset: name, Size: size, Arm: armFD,
		Data: dataConfig{
			Seed: 1, ValidationShare: .1, TestShare: .1, CaptionsPerBag: 5, VocabularySize: 1000, MinCount: 1,
			MaxPixels: loader.DefaultLimits().MaxPixels,
		},
		Net: netConfig{Width: 1, Dropout: -1, NoisePool: "mean"},
		Run: runConfig{Device: "auto", Workers: 2, Prefetch: 4},
	}
	switch name {
	case presetScenes:
		c.scenes(size)
	case presetPaperCOCO:
		c.Data.Set, c.Net.Arch = dataCaptions, netVGG16
		c.Train = train.Paper()
		c.Train.Flip = true
	default:
		return config{}, usagef("preset is %q, want %s", name, alternatives(presets()))
	}
	return c, nil
}

// defaultConfig is what flags show as their defaults.
func defaultConfig() config {
	c, err := presetConfig(presetScenes, sizeQuick)
	if err != nil {
		panic(err) // the preset exists
	}
	return c
}

func presets() []presetName { return []presetName{presetScenes, presetPaperCOCO} }

func (c *config) scenes(size sizeName) {
	c.Data.Set, c.Data.Noise, c.Net.Arch = dataScenes, .4, netScenes
	c.Data.TrainSize, c.Data.ValidationSize, c.Data.TestSize = 4000, 500, 1000
	c.Train = train.ScenesQuick()
	if size == sizeFull {
		c.Data.TrainSize, c.Data.ValidationSize, c.Data.TestSize = 16000, 1000, 2000
		c.Train = train.ScenesPreset()
	}
}

// layers are the sources of a configuration above its defaults, the weakest first: preset, file,
// flags.
type layers struct {
	preset presetName
	size   sizeName
	file   string
	flags  *pflag.FlagSet
}

// apply fills c, whose fields the flags point to: preset, then file, then the flags that were given.
func (l layers) apply(c *config) error {
	content, err := l.read()
	if err != nil {
		return err
	}
	given := givenFlags(l.flags)
	name, size, captions := l.base(content, given)
	resolved, err := presetConfig(name, firstNonEmpty(size, sizeQuick))
	if err != nil {
		return err
	}
	if captions { // noise is injected into data of others only where it is asked for
		resolved.Data.Set, resolved.Data.Noise = dataCaptions, 0
	}
	*c = resolved
	if err := readConfig(l.file, content, c); err != nil {
		return err
	}
	c.Preset, c.Size, c.Build = name, firstNonEmpty(size, sizeQuick), nil
	for _, flag := range given {
		if err := l.flags.Set(flag.name, flag.value); err != nil {
			return usageError{err}
		}
	}
	c.normalize()
	return c.validate()
}

// normalize makes empty lists none: the two mean the same, and files that tell of them should be the
// same too.
func (c *config) normalize() {
	if len(c.Net.Depths) == 0 {
		c.Net.Depths = nil
	}
	if len(c.Net.Widths) == 0 {
		c.Net.Widths = nil
	}
	if len(c.Train.LearningRates) == 0 {
		c.Train.LearningRates = nil
	}
	if len(c.Train.Freeze) == 0 {
		c.Train.Freeze = nil
	}
}

func (l layers) read() ([]byte, error) {
	if l.file == "" {
		return nil, nil
	}
	return readConfigFile(l.file)
}

// base finds the preset and its size, empty where nobody names one: from their flags, else from the
// file, else by the data, which are captions where a file of them is named.
func (l layers) base(content []byte, given []givenFlag) (name presetName, size sizeName, captions bool) {
	var file struct {
		Preset presetName
		Size   sizeName
		Data   struct{ Captions string }
	}
	_ = yaml.Unmarshal(content, &file) // whatever is wrong with it, readConfig says better
	captions = file.Data.Captions != "" || slices.ContainsFunc(given, func(g givenFlag) bool { return g.name == "captions" })
	usual := presetScenes
	if captions {
		usual = presetPaperCOCO
	}
	return firstNonEmpty(l.preset, file.Preset, usual), firstNonEmpty(l.size, file.Size), captions
}

func firstNonEmpty[T ~string](values ...T) T {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// validate names the first field that is out of range.
func (c *config) validate() error {
	for _, check := range []func() error{c.validateNames, c.Data.validate, c.validateNet, c.Train.Validate, c.Run.validate} {
		if err := check(); err != nil {
			return usageError{err}
		}
	}
	return nil
}

func (c *config) validateNames() error {
	switch {
	case !slices.Contains(arms(), c.Arm):
		return fmt.Errorf("arm is %q, want %s", c.Arm, alternatives(arms()))
	case c.Size != sizeQuick && c.Size != sizeFull:
		return fmt.Errorf("size is %q, want quick or full", c.Size)
	case c.Net.Arch != netVGG16 && c.Net.Arch != netScenes:
		return fmt.Errorf("net.arch is %q, want vgg16 or scenes", c.Net.Arch)
	}
	return nil
}

func (d *dataConfig) validate() error {
	positive := func(field string, v, least int) error {
		if v < least {
			return fmt.Errorf("data.%s is %d, want at least %d", field, v, least)
		}
		return nil
	}
	share := func(field string, v float64) error {
		if !(v >= 0 && v < 1) {
			return fmt.Errorf("data.%s is %g, want at least 0 and less than 1", field, v)
		}
		return nil
	}
	switch d.Set {
	case dataScenes:
		return firstError(positive("train_size", d.TrainSize, 1), positive("validation_size", d.ValidationSize, 0),
			positive("test_size", d.TestSize, 1), share("noise", d.Noise))
	case dataCaptions:
		if d.Captions == "" || d.Images == "" {
			return fmt.Errorf("data.set is captions: name the file of captions (--captions FILE) and the folder of pictures (--images DIR)")
		}
		if d.ValidationShare+d.TestShare >= 1 {
			return fmt.Errorf("data.validation_share %g and data.test_share %g leave nothing to train on", d.ValidationShare, d.TestShare)
		}
		return firstError(share("validation_share", d.ValidationShare), share("test_share", d.TestShare),
			positive("captions_per_bag", d.CaptionsPerBag, 1), positive("vocabulary_size", d.VocabularySize, 1),
			positive("min_count", d.MinCount, 0), positive("max_bad_samples", d.MaxBadSamples, 0),
			positive("max_pixels", d.MaxPixels, 0), share("noise", d.Noise), d.validateFit())
	}
	return fmt.Errorf("data.set is %q, want scenes or captions", d.Set)
}

func (d *dataConfig) validateFit() error {
	if d.Fit == "" {
		return nil
	}
	if err := d.Fit.Validate(); err != nil {
		return fmt.Errorf("data.%w", err)
	}
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *config) validateNet() error {
	if !(c.Net.Width > 0 && c.Net.Width <= 16) {
		return fmt.Errorf("net.width is %g, want more than 0 and at most 16", c.Net.Width)
	}
	return c.Net.model(1, c.Arm.noiseMode()).Validate()
}

func (r *runConfig) validate() error {
	for _, f := range []struct {
		name      string
		value, lo int
	}{{"threads", r.Threads, 0}, {"workers", r.Workers, 1}, {"prefetch", r.Prefetch, 1}} {
		if f.value < f.lo || f.value > 1024 {
			return fmt.Errorf("run.%s is %d, want %d to 1024", f.name, f.value, f.lo)
		}
	}
	return nil
}

// model is the net's configuration for a number of classes and a noise model.
func (n *netConfig) model(classes int, noise model.NoiseMode) model.Config {
	m := model.VGG16(classes, n.MIL)
	if n.Arch == netScenes {
		m = model.Scenes(classes, n.MIL)
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
	if n.Dropout >= 0 {
		m.Dropout = n.Dropout
	}
	return m
}

// fit is how pictures get onto the canvas.
func (c *config) fit() loader.Fit {
	switch {
	case c.Data.Fit != "":
		return c.Data.Fit
	case c.Net.MIL && c.Net.Arch == netVGG16:
		return loader.FitLongest
	}
	return loader.FitSquare
}

// yaml writes the configuration as a file that --config reads.
func (c *config) yaml() ([]byte, error) { return yaml.Marshal(c) }
