package run

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"nmn/internal/durable"
	"nmn/internal/setting"
	"nmn/kernels/tensor"
	"nmn/loader/dataset"
	"nmn/loader/manifest"
	"nmn/recipe"
	"nmn/train"
)

// Sources are what a configuration is made of, the weakest first: a preset, a file, and settings from
// elsewhere, such as the flags of a command line.
type Sources struct {
	// Preset names the preset; empty takes that of the file, else the one that goes with the data.
	Preset PresetName
	// Size is that of a preset of scenes; empty takes that of the file, else quick.
	Size Size
	// File is a YAML file that is laid over the preset; empty for none.
	File string
	// Arms are those that an experiment is asked for; nil where they are not named.
	Arms []recipe.Name
	// Settings override the file, the later ones the earlier ones.
	Settings []*Setting
}

// Resolve fills c: preset, then file, then what was given, and what these leave open. A setting of the data that the
// kind of data does not read is refused where it was given, or where a file that is not that of a run changes it.
func (s Sources) Resolve(c *Config) error {
	file, err := s.Read()
	if err != nil {
		return err
	}
	name, size, set := s.Base(file)
	resolved, err := Preset(name, size)
	if err != nil {
		return err
	}
	resolved.Arm = recipe.FD
	if (set == dataset.Captions || set == dataset.MSRVTT) && s.File == "" && s.Preset == "" {
		resolved.Data.KeepFunctionWords = false // nobody asks for the paper's protocol
	}
	if set != "" { // noise is injected into data of others only where it is asked for
		resolved.Data.Set, resolved.Data.Noise = set, 0
		if set == dataset.Manifest {
			resolved.Data.VocabularySize = dataset.MaxClasses // its labels are classes, whereas captions have many words
		}
	}
	*c = resolved
	if err := file.Decode(c); err != nil {
		return err
	}
	chosenFrom := &resolved.Data
	if c.Build != nil { // of a run, which knows what it reads
		c.places().ComeFrom(c.Build.Folder, filepath.Dir(s.File))
		of := c.Data
		chosenFrom = &of
	}
	c.Preset, c.Size, c.Build = name, cmp.Or(size, Quick), nil
	for _, one := range s.Settings {
		if err := one.Apply(c); err != nil {
			return err
		}
		c.Chosen = slices.DeleteFunc(c.Chosen, func(o Choice) bool {
			return o.Key == one.Key || strings.HasPrefix(o.Key, one.Key+".")
		})
	}
	c.choose(s.given(file, c.Arm))
	if err := c.Validate(); err != nil {
		return s.located(err, file)
	}
	return s.located(c.Data.Unread(chosenFrom, s.gives), file)
}

// located adds to an error about a setting the place in the file that it comes from, if it does.
func (s Sources) located(err error, file *Document) error {
	var mistake *setting.Error
	if !errors.As(err, &mistake) || mistake.Key == "" || s.gives(mistake.Key) {
		return err
	}
	if n := file.find(mistake.Key); n != nil {
		return &setting.Error{Key: mistake.Key, Reason: fmt.Errorf("%s:%d: %w", file.name, n.Line, mistake.Reason)}
	}
	return err
}

// Read parses the file.
func (s Sources) Read() (*Document, error) {
	if s.File == "" {
		return &Document{}, nil
	}
	return ReadDocument(s.File)
}

// gives reports whether the settings have a key.
func (s Sources) gives(key string) bool { return s.find(key) != nil }

// find is the last setting of a key; nil for none.
func (s Sources) find(key string) *Setting {
	for _, one := range slices.Backward(s.Settings) {
		if one.Key == key {
			return one
		}
	}
	return nil
}

// keys are those of the settings.
func (s Sources) keys() []string {
	keys := make([]string, len(s.Settings))
	for i, one := range s.Settings {
		keys[i] = one.Key
	}
	return keys
}

// Base finds the preset and its size, empty where nobody names one: from the sources, else from the
// file, else by the data, which are captions, clips, features or a manifest where a file of them is named, and else
// empty.
func (s Sources) Base(file *Document) (name PresetName, size Size, set dataset.Kind) {
	fallback := ScenesPreset
	for _, of := range []struct {
		key    string
		preset PresetName
		set    dataset.Kind
	}{
		{"data.features.train.features", FeaturesPreset, dataset.Features},
		{"data.msrvtt", PaperMSRVTTPreset, dataset.MSRVTT},
		{"data.clips", PaperMSRVTTPreset, dataset.Clips},
		{"data.manifest", PaperCOCOPreset, dataset.Manifest},
		{"data.captions", PaperCOCOPreset, dataset.Captions},
	} {
		if file.has(of.key) || s.gives(of.key) {
			fallback, set = of.preset, of.set
			break
		}
	}
	pretrained := file.has("net.backbone") || s.gives("net.backbone")
	images := file.text("data.images")
	if one := s.find("data.images"); one != nil {
		images = one.Text()
	}
	if set == "" && images != "" && !file.has("data.set") && !s.gives("data.set") &&
		manifest.IsTree(images) {
		fallback, set = PaperCOCOPreset, dataset.Manifest
	}
	if pretrained { // what is learned is features
		fallback = FeaturesPreset
	}
	return cmp.Or(s.Preset, PresetName(file.text("preset")), fallback), cmp.Or(s.Size, Size(file.text("size"))), set
}

// given finds what choices depend on; arm is that of file and flags.
func (s Sources) given(file *Document, arm recipe.Name) given {
	start := func(key string) bool { return strings.HasPrefix(key, "train.noise.") || key == "train.noise" }
	c := given{
		preset: s.Preset != "" || file.has("preset"),
		net:    file.has("net.arch") || s.gives("net.arch") || s.Preset != "",
		arm:    file.has("arm") || s.gives("arm"),
		arms:   s.Arms,
		start:  file.find("train.noise") != nil || slices.ContainsFunc(s.keys(), start),
	}
	if c.arm && s.Arms == nil {
		c.arms = []recipe.Name{arm}
	}
	return c
}

// Complete fills in what is left open, as Sources.Resolve does, and checks the rest. A configuration that was resolved
// stays what it is. arms are those of an experiment, where they are named. Open does so by itself.
func (c *Config) Complete(arms ...recipe.Name) error {
	g := given{preset: true, net: true, arm: c.Arm != "", arms: arms}
	if g.arm && arms == nil {
		g.arms = []recipe.Name{c.Arm}
	}
	if base, err := Preset(c.Preset, c.Size); err == nil {
		g.start = !reflect.DeepEqual(c.Train.Noise, base.Train.Noise)
	}
	c.Arm = cmp.Or(c.Arm, recipe.FD)
	c.choose(g)
	return c.Validate()
}

// normalize makes empty lists nil: the two mean the same, and should be the same in files too. Clips get their
// frames where nobody said how many.
func (c *Config) normalize() {
	c.Net.Depths, c.Net.Widths, c.Net.Hidden = noneIfEmpty(c.Net.Depths), noneIfEmpty(c.Net.Widths),
		noneIfEmpty(c.Net.Hidden)
	f := &c.Data.Features
	f.LabelColumns, f.Ignore = noneIfEmpty(f.LabelColumns), noneIfEmpty(f.Ignore)
	f.FeatureColumns = noneIfEmpty(f.FeatureColumns)
	c.Train.LearningRates, c.Train.Freeze = noneIfEmpty(c.Train.LearningRates), noneIfEmpty(c.Train.Freeze)
	painted := c.Data.Set == dataset.Scenes || c.Data.Set == dataset.MovingScenes
	if c.Net.Arch.IsResNet() && painted && c.Net.InputSize == 0 {
		c.Net.InputSize = resNetScenes
	}
	if c.Net.Arch.IsResNet() && slices.Equal(c.Train.LearningRates, train.Paper().LearningRates) {
		c.Train.LearningRates = train.ClassifierRates("head.fc") // the last layer has another name
	}
	if c.Data.Set == dataset.MovingScenes && c.Data.Frames == 0 {
		c.Data.Frames = MovingFrames
	}
	if painted && c.Net.Backbone != "" && c.Data.TrainSize+c.Data.ValidationSize+c.Data.TestSize == 0 {
		quick := DefaultConfig() // the preset of features says nothing of scenes
		if c.Data.Set == dataset.MovingScenes {
			quick.MovingScenes(Quick)
		}
		d := &quick.Data
		c.Data.TrainSize, c.Data.ValidationSize, c.Data.TestSize = d.TrainSize, d.ValidationSize, d.TestSize
	}
}

// resNetScenes is the input of a residual net on painted scenes, whose pictures have 48 pixels: at twice the size 3×3
// cells are left of them.
const resNetScenes = 96

func noneIfEmpty[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// ResolveFolder resolves the configuration of what works on the model of a run folder: that of the folder, where
// the sources name no file, with the rest of the sources over it.
func (s Sources) ResolveFolder(folder string, c *Config) error {
	if own := filepath.Join(folder, ConfigFile); s.File == "" && durable.Exists(own) {
		s.File = own
	}
	if err := s.Resolve(c); err != nil {
		return err
	}
	if own := filepath.Join(folder, VocabularyFile); c.Data.Vocabulary == "" && durable.Exists(own) {
		// classes are those of the model, whatever the captions are now
		c.Data.Vocabulary, c.Data.VocabularyOfModel = own, true
	}
	if !s.gives("run.precision") { // that of the run may be one that this device lacks
		c.Run.Precision = tensor.Auto
	}
	return nil
}
