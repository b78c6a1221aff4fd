package main

import (
	"cmp"
	"nmn/internal/durable"
	"nmn/kernels/tensor"
	"path/filepath"
	"slices"
	"strings"
)

// configSources are what a configuration is made of, the weakest first: a preset, a file, and settings from
// elsewhere, such as the flags of a command line.
type configSources struct {
	// preset names the preset; empty takes that of the file, else the one that goes with the data.
	preset presetName
	// size is that of a preset of scenes; empty takes that of the file, else quick.
	size sizeName
	// file is a YAML file that is laid over the preset; empty for none.
	file string
	// arms are those that an experiment is asked for; nil where they are not named.
	arms []armName
	// given are the keys of the settings from elsewhere, such as data.noise, and apply sets them.
	given []string
	apply func() error
}

// resolve fills c: preset, then file, then what was given, and what these leave open.
func (s configSources) resolve(c *config) error {
	file, err := s.read()
	if err != nil {
		return err
	}
	name, size, set := s.base(file)
	resolved, err := presetConfig(name, cmp.Or(size, sizeQuick))
	if err != nil {
		return err
	}
	if set != "" { // noise is injected into data of others only where it is asked for
		resolved.Data.Set, resolved.Data.Noise = set, 0
		if set == dataManifest {
			resolved.Data.VocabularySize = maxClasses // its labels are classes, whereas captions have many words
		}
	}
	*c = resolved
	if err := file.decode(c); err != nil {
		return err
	}
	c.Preset, c.Size, c.Build = name, cmp.Or(size, sizeQuick), nil
	if s.apply != nil {
		if err := s.apply(); err != nil {
			return err
		}
	}
	c.normalize()
	c.resolveRecipe(s.choices(file, c.Arm))
	return c.validate()
}

// read parses the file.
func (s configSources) read() (*document, error) {
	if s.file == "" {
		return &document{}, nil
	}
	return readDocument(s.file)
}

// gives reports whether a setting comes from elsewhere.
func (s configSources) gives(key string) bool { return slices.Contains(s.given, key) }

// base finds the preset and its size, empty where nobody names one: from the sources, else from the
// file, else by the data, which are captions, clips, features or a manifest where a file of them is named, and else
// empty.
func (s configSources) base(file *document) (name presetName, size sizeName, set dataSet) {
	fallback := presetScenes
	for _, of := range []struct {
		key    string
		preset presetName
		set    dataSet
	}{
		{"data.features.train.features", presetFeatures, dataFeatures},
		{"data.msrvtt", presetPaperMSRVTT, dataMSRVTT},
		{"data.clips", presetPaperMSRVTT, dataClips},
		{"data.manifest", presetPaperCOCO, dataManifest},
		{"data.captions", presetPaperCOCO, dataCaptions},
	} {
		if file.has(of.key) || s.gives(of.key) {
			fallback, set = of.preset, of.set
			break
		}
	}
	return cmp.Or(s.preset, presetName(file.text("preset")), fallback), cmp.Or(s.size, sizeName(file.text("size"))), set
}

// choices finds what the recipe depends on; arm is that of file and flags.
func (s configSources) choices(file *document, arm armName) choices {
	start := func(key string) bool { return strings.HasPrefix(key, "train.noise.") || key == "train.noise" }
	c := choices{
		preset: s.preset != "" || file.has("preset"),
		arm:    file.has("arm") || s.gives("arm"),
		arms:   s.arms,
		ofRun:  file.find("build") != nil,
		start:  file.find("train.noise") != nil || slices.ContainsFunc(s.given, start),
	}
	if c.arm && s.arms == nil {
		c.arms = []armName{arm}
	}
	return c
}

// normalize makes empty lists none: the two mean the same, and files that tell of them should be the
// same too. Clips get their frames where nobody said how many.
func (c *config) normalize() {
	c.Net.Depths, c.Net.Widths, c.Net.Hidden = noneIfEmpty(c.Net.Depths), noneIfEmpty(c.Net.Widths), noneIfEmpty(c.Net.Hidden)
	f := &c.Data.Features
	f.LabelColumns, f.Ignore = noneIfEmpty(f.LabelColumns), noneIfEmpty(f.Ignore)
	c.Train.LearningRates, c.Train.Freeze = noneIfEmpty(c.Train.LearningRates), noneIfEmpty(c.Train.Freeze)
	if c.Data.Set == dataMoving && c.Data.Frames == 0 {
		c.Data.Frames = movingFrames
	}
}

func noneIfEmpty[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// openFolderConfig resolves the configuration of what works on the model of a run folder: that of the folder, where
// the sources name no file, with the rest of the sources over it.
func (s configSources) openFolderConfig(folder string, c *config) error {
	if own := filepath.Join(folder, configName); s.file == "" && durable.Exists(own) {
		s.file = own
	}
	if err := s.resolve(c); err != nil {
		return err
	}
	if own := filepath.Join(folder, vocabularyName); c.Data.Vocabulary == "" && durable.Exists(own) {
		c.Data.Vocabulary, c.Data.VocabularyOfModel = own, true // classes are those of the model, whatever the captions are now
	}
	if !s.gives("run.precision") { // that of the run may be one that this device lacks
		c.Run.Precision = tensor.Auto
	}
	return nil
}
