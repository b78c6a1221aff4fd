package main

import (
	"slices"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// layers are the sources of a configuration above its defaults, the weakest first: preset, file,
// flags.
type layers struct {
	preset presetName
	size   sizeName
	file   string
	flags  *pflag.FlagSet
	arms   []armName // of an experiment, where they are named
}

// apply fills c, whose fields the flags point to: preset, then file, then the flags that were given.
func (l layers) apply(c *config) error {
	content, err := l.read()
	if err != nil {
		return err
	}
	given := givenFlags(l.flags)
	name, size, set := l.base(content, given)
	resolved, err := presetConfig(name, firstNonEmpty(size, sizeQuick))
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
	c.resolveRecipe(l.choices(content, given, c.Arm))
	return c.validate()
}

// normalize makes empty lists none: the two mean the same, and files that tell of them should be the
// same too. Clips get their frames where nobody said how many.
func (c *config) normalize() {
	if len(c.Net.Depths) == 0 {
		c.Net.Depths = nil
	}
	if len(c.Net.Widths) == 0 {
		c.Net.Widths = nil
	}
	if len(c.Net.Hidden) == 0 {
		c.Net.Hidden = nil
	}
	if c.Data.Set == dataMoving && c.Data.Frames == 0 {
		c.Data.Frames = movingFrames
	}
	f := &c.Data.Features
	if len(f.LabelColumns) == 0 {
		f.LabelColumns = nil
	}
	if len(f.Ignore) == 0 {
		f.Ignore = nil
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

// startFlags say how the noise model starts or learns.
var startFlags = []string{"noise-start", "miss-rate", "false-rate", "noise-deviation", "noise-weight-multiplier", "noise-bias-multiplier", "noise-frozen"}

// choices finds what the recipe depends on; arm is that of file and flags.
func (l layers) choices(content []byte, given []givenFlag, arm armName) choices {
	var file struct {
		Preset presetName
		Arm    armName
		Build  *yaml.Node
		Train  struct{ Noise *yaml.Node }
	}
	_ = yaml.Unmarshal(content, &file) // whatever is wrong with it, readConfig has said
	s := choices{preset: l.preset != "" || file.Preset != "", arm: file.Arm != "", arms: l.arms, ofRun: file.Build != nil, start: file.Train.Noise != nil}
	for _, g := range given {
		s.arm = s.arm || g.name == "arm" || g.name == "noise-model"
		s.start = s.start || slices.Contains(startFlags, g.name)
	}
	if s.arm && l.arms == nil {
		s.arms = []armName{arm}
	}
	return s
}

// base finds the preset and its size, empty where nobody names one: from their flags, else from the
// file, else by the data, which are captions, clips, features or a manifest where a file of them is named, and else empty.
func (l layers) base(content []byte, given []givenFlag) (name presetName, size sizeName, set dataSet) {
	var file struct {
		Preset presetName
		Size   sizeName
		Data   struct {
			Captions string
			MSRVTT   string
			Clips    string
			Manifest string
			Features struct{ Train struct{ Features string } }
		}
	}
	_ = yaml.Unmarshal(content, &file) // whatever is wrong with it, readConfig says better
	named := func(flag string) bool {
		return slices.ContainsFunc(given, func(g givenFlag) bool { return g.name == flag })
	}
	fallback := presetScenes
	switch {
	case file.Data.Features.Train.Features != "" || named("features"):
		fallback, set = presetFeatures, dataFeatures
	case file.Data.MSRVTT != "" || named("msrvtt"):
		fallback, set = presetPaperMSRVTT, dataMSRVTT
	case file.Data.Clips != "" || named("clips"):
		fallback, set = presetPaperMSRVTT, dataClips
	case file.Data.Manifest != "" || named("manifest"):
		fallback, set = presetPaperCOCO, dataManifest
	case file.Data.Captions != "" || named("captions"):
		fallback, set = presetPaperCOCO, dataCaptions
	}
	return firstNonEmpty(l.preset, file.Preset, fallback), firstNonEmpty(l.size, file.Size), set
}

func firstNonEmpty[T ~string](values ...T) T {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
