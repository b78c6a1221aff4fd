package run

import (
	"strings"
	"testing"

	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/recipe"
	"nmn/text"
)

// Captions are witnesses where labels come from them alone and each bag has its own.
func TestRecipe_JudgesCaptionsWhereItCan(t *testing.T) {
	for _, c := range []struct {
		name   string
		preset PresetName
		change func(*Config)
		arm    recipe.Name
	}{
		{"scenes", ScenesPreset, nil, recipe.C},
		{"without noise", ScenesPreset, func(c *Config) { c.Data.Noise = 0 }, recipe.C},
		{"flips", ScenesPreset, func(c *Config) { c.Data.Noise, c.Data.Flips = 0, "0.3:0.1" }, recipe.RN},
		{"file of flip rates", ScenesPreset, func(c *Config) { c.Data.Noise, c.Data.FlipRates = 0, "rates.csv" }, recipe.RN},
		{"by labels", ScenesPreset, func(c *Config) { c.Recipe.Captions = recipe.Labels }, recipe.RN},
		{"folds", ScenesPreset, func(c *Config) { c.Rates = "folds:3" }, recipe.C},
		{"folds by labels", ScenesPreset, func(c *Config) { c.Rates, c.Recipe.Captions = "folds:3", recipe.Labels },
			recipe.RS},
		{"clips by video", MovingScenesPreset, func(c *Config) { c.Net.MIL = true }, recipe.C},
		{"clips by frame", MovingScenesPreset, nil, recipe.RN},
		{"features", FeaturesPreset, func(c *Config) {
			c.Data.Features.Train = dataset.FeatureFiles{Features: "x.npy", Labels: "y.csv"}
		}, recipe.RS},
	} {
		config, err := Preset(c.preset, Quick)
		if err != nil {
			t.Fatal(err)
		}
		if c.change != nil {
			c.change(&config)
		}
		config.normalize()
		config.resolveRecipe(choices{})
		if config.Arm != c.arm || (config.Recipe.Captions == recipe.Witness) != (c.arm == recipe.C) {
			t.Errorf("%s: arm %s, captions %q, want arm %s", c.name, config.Arm, config.Recipe.Captions, c.arm)
		}
	}
	// Folders of before there was a choice keep their arm.
	config, err := Preset(ScenesPreset, Quick)
	if err != nil {
		t.Fatal(err)
	}
	config.Recipe.Form = recipe.Estimate
	if config.resolveRecipe(choices{ofRun: true}); config.Recipe.Captions != "" || config.Arm == recipe.C {
		t.Errorf("of a run folder: arm %s, captions %q", config.Arm, config.Recipe.Captions)
	}
}

// Captions that are not in memory are labels and nothing more, unless somebody has asked for the arm, which is then
// refused; data too small for rates are learned by the plain form.
func TestSettle_TakesCaptionsAsLabels(t *testing.T) {
	v, err := text.NewVocabulary([]text.Word{{Text: "cat", POS: text.NN}})
	if err != nil {
		t.Fatal(err)
	}
	set := &loader.Set{Name: "s", Vocabulary: v, IDs: make([]string, 1000), Vectors: oneFrame{}}
	for _, c := range []struct {
		name   string
		said   [][][]int32
		bags   int
		chosen choices
		arm    recipe.Name
		why    bool
	}{
		{"in memory", make([][][]int32, 1000), 1000, choices{}, recipe.C, false},
		{"not in memory", nil, 1000, choices{}, recipe.RN, false},
		{"asked for", nil, 1000, choices{arm: true, arms: []recipe.Name{recipe.C}}, recipe.C, false},
		{"too few", make([][][]int32, 2), 2, choices{}, recipe.FD, true},
		{"too few, asked for", make([][][]int32, 2), 2, choices{arm: true, arms: []recipe.Name{recipe.C}}, recipe.C, true},
	} {
		config, err := Preset(ScenesPreset, Quick)
		if err != nil {
			t.Fatal(err)
		}
		if c.chosen.arm {
			config.Arm = recipe.C
		}
		config.normalize()
		config.resolveRecipe(c.chosen)
		of := *set
		of.Said, of.IDs = c.said, set.IDs[:c.bags]
		d := &dataset.Splits{Train: &of}
		why := config.Settle(d)
		if config.Arm != c.arm || c.chosen.arm && why != "" || !c.chosen.arm && (why != "") != c.why {
			t.Errorf("%s: arm %s, %q", c.name, config.Arm, why)
		}
		settings := config.Settings()
		err = settings.Fits(d)
		if refused := err != nil; refused != (c.chosen.arm && (c.why || c.said == nil)) {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.name == "asked for" && (err == nil || !strings.Contains(err.Error(), "arm nmn-c judges captions")) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// oneFrame stands for data of images.
type oneFrame struct{ loader.Vectors }

func (oneFrame) Frames(int) int { return 1 }
