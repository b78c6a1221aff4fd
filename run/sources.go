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
	"nmn/run/document"
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
	Settings []*document.Setting
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
		resolved.Data.KeepFunctionWords = false // the paper's protocol was not asked for
	}
	if set != "" { // noise is injected into data of others only where it is asked for
		resolved.Data.Set, resolved.Data.Noise = set, 0
		if set == dataset.Manifest {
			resolved.Data.VocabularySize = dataset.MaxClasses // its labels are classes, whereas captions have many words
		}
	}
	if set != "" && name != FeaturesPreset {
		s.startFromScratch(&resolved, file)
	}
	resolved.Chosen = slices.DeleteFunc(resolved.Chosen, func(o Choice) bool { return file.Has(o.Key) })
	*c = resolved
	if err := file.Decode(c); err != nil {
		return err
	}
	chosenFrom := &resolved.Data
	if c.Build != nil { // a run wrote it, and it names the files that it reads
		c.places().ComeFrom(c.Build.Folder, filepath.Dir(s.File))
		of := c.Data
		chosenFrom = &of
	}
	ofRun := c.Build != nil
	c.Preset, c.Size, c.Build = name, cmp.Or(size, Quick), nil
	for _, one := range s.Settings {
		if err := one.Apply(c); err != nil {
			return err
		}
		c.Chosen = slices.DeleteFunc(c.Chosen, func(o Choice) bool {
			return o.Key == one.Key || strings.HasPrefix(o.Key, one.Key+".")
		})
	}
	if err := c.findWeights(); err != nil {
		return s.located(err, file)
	}
	if !ofRun && s.Arms == nil && !file.Has("data.classes") && !s.gives("data.classes") {
		c.leaveClassesOpen()
	}
	c.choose(s.given(file, c.Arm))
	if err := c.Validate(); err != nil {
		return s.located(err, file)
	}
	return s.located(c.Data.Unread(chosenFrom, s.gives), file)
}

// located adds to an error about a setting the place in the file that it comes from, if it does.
func (s Sources) located(err error, file *document.Document) error {
	var mistake *setting.Error
	if !errors.As(err, &mistake) || mistake.Key == "" || s.gives(mistake.Key) {
		return err
	}
	if place := file.Place(mistake.Key); place != "" {
		return &setting.Error{Key: mistake.Key, Reason: fmt.Errorf("%s: %w", place, mistake.Reason)}
	}
	return err
}

// Read parses the file.
func (s Sources) Read() (*document.Document, error) {
	if s.File == "" {
		return &document.Document{}, nil
	}
	return document.Read(s.File)
}

// startFromScratch lays over a preset for pictures of others what a net that starts from random weights needs: the
// training of the scenes, and a small net if none is named. VGG16 keeps the paper's training.
func (s Sources) startFromScratch(c *Config, file *document.Document) {
	arch := NetName(s.text(file, "net.arch"))
	if s.Preset != "" || file.Has("preset") || arch == NetVGG16 || file.Has("net.weights") || s.gives("net.weights") {
		return
	}
	start := c.Train.Noise
	c.Train = train.ScenesQuick()
	if c.note(decayKey, decayOfPictures); c.Data.Set == dataset.Clips || c.Data.Set == dataset.MSRVTT {
		c.trainFrames()
	}
	c.Train.Noise.Q01, c.Train.Noise.Q10 = start.Q01, start.Q10 // how noisy these labels are is not known
	if arch.IsResNet() {
		return
	}
	c.Net.Arch, c.Net.InputSize = NetScenes, smallInput
	c.note("net.arch", "small, since no weights are given to start from")
	c.note("net.input_size", "enough for what fills a good part of a picture")
}

// smallInput is the side of the pictures of others that a small net sees.
const smallInput = 96

// text is the value of a setting: the last that was given, else that of the file.
func (s Sources) text(file *document.Document, key string) string {
	if one := s.find(key); one != nil {
		return one.Text()
	}
	return file.Text(key)
}

// gives reports whether the settings have a key.
func (s Sources) gives(key string) bool { return s.find(key) != nil }

// find is the last setting of a key; nil for none.
func (s Sources) find(key string) *document.Setting {
	for _, one := range slices.Backward(s.Settings) {
		if one.Key == key {
			return one
		}
	}
	return nil
}

// Base finds the preset and its size, empty if none is named: from the sources, else from the file, else by
// the kind of the data, if a file of captions, clips, features or a manifest is named.
func (s Sources) Base(file *document.Document) (name PresetName, size Size, set dataset.Kind) {
	fallback := ScenesPreset
	named := dataset.Kind(s.text(file, "data.set"))
	embedded := named == dataset.Scenes || named == dataset.MovingScenes // Config.Unread refuses other sources
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
		if !embedded && (file.Has(of.key) || s.gives(of.key)) {
			fallback, set = of.preset, of.set
			break
		}
	}
	pretrained := file.Has("net.backbone") || s.gives("net.backbone")
	images := s.text(file, "data.images")
	if set == "" && images != "" && !file.Has("data.set") && !s.gives("data.set") &&
		(manifest.IsTree(images) || dataset.HasFrames(images)) {
		fallback, set = PaperCOCOPreset, dataset.Manifest
	}
	if pretrained { // what is learned is features
		fallback = FeaturesPreset
	}
	return cmp.Or(s.Preset, PresetName(file.Text("preset")), fallback), cmp.Or(s.Size, Size(file.Text("size"))), set
}

// given finds what choices depend on; arm is that of file and flags.
func (s Sources) given(file *document.Document, arm recipe.Name) given {
	gives := func(key string) bool { return file.Has(key) || s.gives(key) }
	start := func(one *document.Setting) bool { return strings.HasPrefix(one.Key+".", "train.noise.") }
	c := given{
		preset:  s.Preset != "" || file.Has("preset"),
		net:     gives("net.arch") || s.Preset != "",
		arm:     gives("arm"),
		arms:    s.Arms,
		start:   file.Place("train.noise") != "" || slices.ContainsFunc(s.Settings, start),
		setting: gives,
	}
	if c.arm && s.Arms == nil {
		c.arms = []recipe.Name{arm}
	}
	return c
}

// Complete fills in what is left open, as Sources.Resolve does, and checks the rest. A resolved configuration
// does not change. arms are the arms of an experiment, if they are named. Open calls Complete.
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
		// the model's classes stay, whatever the captions are now
		c.Data.Vocabulary, c.Data.VocabularyOfModel = own, true
	}
	if !s.gives("run.precision") { // that of the run may be one that this device lacks
		c.Run.Precision = tensor.Auto
	}
	return nil
}

// FinishedConfig is the configuration of a finished run. A folder without one is refused with a *ConfigError.
func FinishedConfig(dir string) (c Config, err error) {
	has := func(name string) bool { return durable.Exists(filepath.Join(dir, name)) }
	switch {
	case !has(ConfigFile) && has(IndexFile):
		return c, setting.Errorf("", "%s holds an experiment: name the folder of one of its runs", dir)
	case !has(ConfigFile):
		return c, setting.Errorf("", "%s holds no run: there is no %s in it", dir, ConfigFile)
	case !has(ResultFile):
		return c, setting.Errorf("", "%s holds a run that has not ended: the command that began it goes on with it", dir)
	}
	err = Sources{File: filepath.Join(dir, ConfigFile)}.Resolve(&c)
	return c, err
}
