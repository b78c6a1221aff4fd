package run

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/loader/picture"
	"nmn/recipe"
	"nmn/run/document"
	"nmn/run/folder"
	"nmn/text"
	"nmn/train"
)

// Captions are witnesses where labels come from them alone and each bag has its own.
func TestRecipe_JudgesCaptionsWhereItCan(t *testing.T) {
	for _, c := range []struct {
		name   string
		preset PresetName
		change func(*Config)
		arm    recipe.Name
	}{
		{"scenes", ScenesPreset, nil, recipe.CaptionFilter},
		{"without noise", ScenesPreset, func(c *Config) { c.Data.Noise = 0 }, recipe.CaptionFilter},
		{"flips", ScenesPreset, func(c *Config) { c.Data.Noise, c.Data.Flips = 0, "0.3:0.1" }, recipe.HeldRates},
		{"file of flip rates", ScenesPreset, func(c *Config) { c.Data.Noise, c.Data.FlipRates = 0, "rates.csv" },
			recipe.HeldRates},
		{"by labels", ScenesPreset, func(c *Config) { c.Recipe.Captions = recipe.Labels }, recipe.HeldRates},
		{"folds", ScenesPreset, func(c *Config) { c.NoiseRates = "folds:3" }, recipe.CaptionFilter},
		{"folds by labels", ScenesPreset, func(c *Config) { c.NoiseRates, c.Recipe.Captions = "folds:3", recipe.Labels },
			recipe.SoftLabels},
		{"clips by video", MovingScenesPreset, func(c *Config) { c.Net.MIL = true }, recipe.CaptionFilter},
		{"clips by frame", MovingScenesPreset, nil, recipe.HeldRates},
		{"features", FeaturesPreset, func(c *Config) {
			c.Data.Features.Train = dataset.FeatureFiles{Features: "x.npy", Labels: "y.csv"}
		}, recipe.SoftLabels},
	} {
		config := expect.Value(Preset(c.preset, Quick))(t)
		if c.change != nil {
			c.change(&config)
		}
		config.choose(given{net: true})
		if config.Arm != c.arm || (config.Recipe.Captions == recipe.Witness) != (c.arm == recipe.CaptionFilter) {
			t.Errorf("%s: arm %s, captions %q, want arm %s", c.name, config.Arm, config.Recipe.Captions, c.arm)
		}
	}
}

// Captions that are not in memory are plain labels, unless the user has asked for the arm, which is then
// refused. Data that are too small for rates are learned by the plain form.
func TestSettle_TakesCaptionsAsLabels(t *testing.T) {
	v := expect.Value(text.NewVocabulary([]text.Word{{Text: "cat", POS: text.NN}}))(t)
	set := &loader.Set{Name: "s", Vocabulary: v, IDs: make([]string, 1000), Vectors: oneFrame{}}
	for _, c := range []struct {
		name   string
		said   [][][]int32
		bags   int
		chosen given
		arm    recipe.Name
		why    bool
	}{
		{"in memory", make([][][]int32, 1000), 1000, given{}, recipe.CaptionFilter, false},
		{"not in memory", nil, 1000, given{}, recipe.HeldRates, false},
		{"asked for", nil, 1000, given{arm: true, arms: []recipe.Name{recipe.CaptionFilter}}, recipe.CaptionFilter, false},
		{"too few", make([][][]int32, 2), 2, given{}, recipe.FD, true},
		{"too few, asked for", make([][][]int32, 2), 2, given{arm: true, arms: []recipe.Name{recipe.CaptionFilter}},
			recipe.CaptionFilter, true},
	} {
		config, err := Preset(ScenesPreset, Quick)
		expect.OK(t, err)
		if c.chosen.arm {
			config.Arm = recipe.CaptionFilter
		}
		config.choose(c.chosen)
		of := *set
		of.CaptionsInUse, of.IDs = c.said, set.IDs[:c.bags]
		d := &dataset.Splits{Train: &of}
		why := config.FallBackToPaper(d)
		if config.Arm != c.arm || c.chosen.arm && why != "" || !c.chosen.arm && (why != "") != c.why {
			t.Errorf("%s: arm %s, %q", c.name, config.Arm, why)
		}
		settings := config.Settings()
		err = settings.Fits(d)
		if refused := err != nil; refused != (c.chosen.arm && (c.why || c.said == nil)) {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.name == "asked for" && (err == nil || !strings.Contains(err.Error(), "arm caption-filter judges captions")) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// oneFrame stands for data of images.
type oneFrame struct{ loader.Vectors }

func (oneFrame) Frames(int) int { return 1 }

// What was left open is listed with value and reason; what is given leaves the list, in a configuration that was read
// from a run too.
func TestChosen_IsWhatNobodyGave(t *testing.T) {
	keys := func(c *Config) (keys []string) {
		for _, o := range c.Chosen {
			keys = append(keys, o.Key)
		}
		return keys
	}
	var c Config
	expect.OK(t, (Sources{Settings: settings(t, "noise_rates=folds:3")}).Resolve(&c))
	if want := []string{"arm", "recipe.captions", "recipe.form"}; !slices.Equal(keys(&c), want) {
		t.Errorf("chosen are %q, want %q", keys(&c), want)
	}
	if lines := c.DescribeChoices(); lines[0] !=
		"arm = caption-filter: it weights each caption by the probability that it is right" {
		t.Errorf("%q", lines)
	}
	text := expect.Value(c.YAML())(t)
	file := filepath.Join(t.TempDir(), ConfigFile)
	expect.OK(t, os.WriteFile(file, text, 0o666))
	var again Config
	expect.OK(t, (Sources{File: file, Settings: settings(t, "arm=baseline")}).Resolve(&again))
	if want := []string{"recipe.captions", "recipe.form"}; !slices.Equal(keys(&again), want) {
		t.Errorf("with an arm chosen are %q, want %q", keys(&again), want)
	}
	if len(c.Chosen) != 3 {
		t.Error("the first configuration has changed")
	}
	again.Arm = c.Arm
	if key, was, is := FirstChange(&c, &again); key != "" {
		t.Errorf("runs that differ in what was chosen alone are two: %s was %s and is %s", key, was, is)
	}
}

// A user's own pictures are mirrored and weights averaged, unless the user says otherwise or names a preset.
func TestSources_MirrorAndAverageWherePicturesAreLearned(t *testing.T) {
	file := filepath.Join(t.TempDir(), "own.yaml")
	expect.OK(t, os.WriteFile(file, []byte("train:\n  flip: false\n"), 0o600))
	settings := expect.Value(document.ParseSettings("data.manifest=pictures.csv", "train.ema=0"))(t)
	own := settings[:1]
	for _, c := range []struct {
		name    string
		sources Sources
		flip    bool
		ema     float64
		chosen  []string
	}{
		{"own", Sources{Settings: own}, true, .99, []string{"train.ema", "train.flip", "train.weight_decay"}},
		{"file", Sources{File: file, Settings: own}, false, .99, []string{"train.ema", "train.weight_decay"}},
		{"setting", Sources{Settings: settings}, true, 0, []string{"train.flip", "train.weight_decay"}},
		{"preset", Sources{Preset: PaperCOCOPreset, Settings: own}, false, 0, nil},
	} {
		var config Config
		if err := c.sources.Resolve(&config); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var chosen []string
		for _, o := range config.Chosen {
			if strings.HasPrefix(o.Key, "train.") {
				chosen = append(chosen, o.Key)
			}
		}
		if config.Train.Flip != c.flip || config.Train.EMA != c.ema || !slices.Equal(chosen, c.chosen) {
			t.Errorf("%s: mirrored %v, averages %v, chosen %v", c.name, config.Train.Flip, config.Train.EMA, chosen)
		}
	}
}

// The configuration of an earlier run does not mention classes, and stays as it was. Other configurations of pictures
// leave it to the labels.
func TestResolve_ConfigurationsOfRunsKeepTheirClasses(t *testing.T) {
	for build, want := range map[string]dataset.Classes{"": dataset.AutoClasses,
		"build:\n  version: v1\n  folder: .\n": ""} {
		file := filepath.Join(t.TempDir(), "config.yaml")
		expect.OK(t, os.WriteFile(file, []byte(build+"data:\n  manifest: pictures.csv\n"), 0o600))
		var c Config
		if err := (Sources{File: file}).Resolve(&c); err != nil || c.Data.Classes != want {
			t.Errorf("build %q: classes %q, %v, want %q", build, c.Data.Classes, err, want)
		}
	}
}

// A configuration that another program makes from a preset is completed as the sources of a command line are.
func TestOpen_CompletesAPresetAsSourcesDo(t *testing.T) {
	t.Parallel()
	for _, name := range Presets() {
		for _, arm := range append(recipe.PaperArms(), "", recipe.HeldRates) {
			var given []string
			if arm != "" {
				given = append(given, "arm="+string(arm))
			}
			switch name {
			case FeaturesPreset:
				given = append(given, "data.features.train.features=x.npy")
			case PaperCOCOPreset:
				given = append(given, "data.captions=captions.json", "data.images=images")
			case PaperMSRVTTPreset:
				given = append(given, "data.msrvtt=annotations.json", "data.frames_dir=frames")
			}
			var want Config
			sources := Sources{Preset: name, Settings: settings(t, given...)}
			failure := sources.Resolve(&want)
			got, err := Preset(name, "")
			expect.OK(t, err)
			for _, one := range sources.Settings {
				expect.OK(t, one.Apply(&got))
			}
			if err := got.Complete(); (err == nil) != (failure == nil) {
				t.Errorf("%s, arm %q: %v, want %v", name, arm, err, failure)
			}
			if !maps.Equal(folder.Flatten(&got), folder.Flatten(&want)) {
				key, was, is := FirstChange(&want, &got)
				t.Errorf("%s, arm %q: %s is %s, want %s", name, arm, key, is, was)
			}
			if failure != nil {
				continue
			}
			again := got
			err = again.Complete()
			if err != nil || !maps.Equal(folder.Flatten(&again), folder.Flatten(&got)) {
				t.Errorf("%s, arm %q: what is complete is changed: %v", name, arm, err)
			}
		}
	}
}

func TestResolve_HowPicturesAreRead(t *testing.T) {
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "config.yaml")
		expect.OK(t, os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	of := settings(t, "data.manifest=list.csv")
	const listed = "data: {set: manifest, manifest: list.csv"
	for name, c := range map[string]struct {
		sources     Sources
		resize      picture.Filter
		orientation picture.Orientation
	}{
		"pictures of somebody": {Sources{Settings: of}, picture.FilterAntialias, picture.OrientationApply},
		"the preset of the paper": {Sources{Settings: of, Preset: PaperCOCOPreset}, picture.FilterBilinear,
			picture.OrientationIgnore},
		"another preset": {Sources{Settings: of, Preset: ScenesPreset}, picture.FilterAntialias,
			picture.OrientationApply},
		"a file that does not say": {Sources{File: file(listed + "}\n")}, picture.FilterAntialias, picture.OrientationApply},
		"a file that does": {Sources{File: file(listed + ", resize: bilinear}\n")}, picture.FilterBilinear,
			picture.OrientationApply},
		"scenes": {Sources{}, "", ""},
	} {
		var config Config
		if err := c.sources.Resolve(&config); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if config.Data.Resize != c.resize || config.Data.Orientation != c.orientation {
			t.Errorf("%s: %q and %q", name, config.Data.Resize, config.Data.Orientation)
		}
		again := config
		if err := again.Complete(); err != nil || again.Data.Resize != c.resize || again.Data.Orientation != c.orientation {
			t.Errorf("%s: what is complete becomes %q and %q, %v", name, again.Data.Resize, again.Data.Orientation, err)
		}
	}
}

// Pictures of a user who names neither net nor weights are learned by a small net, with the training of a net that
// starts from random weights. A net, weights or a preset that is named is used.
func TestSources_LearnWithASmallNetWithoutWeights(t *testing.T) {
	weightsFile := filepath.Join(t.TempDir(), "w.safetensors")
	expect.OK(t, os.WriteFile(weightsFile, nil, 0o600))
	for name, c := range map[string]struct {
		sources Sources
		want    string
	}{
		"pictures": {Sources{Settings: settings(t, "data.manifest=a.csv")}, "scenes 96 adamw 0.2"},
		"captions": {Sources{Settings: settings(t, "data.captions=a.json", "data.images=a")}, "scenes 96 adamw 0.2"},
		"clips":    {Sources{Settings: settings(t, "data.clips=a.csv")}, "scenes 96 adamw 0.5"},
		"whole clips": {Sources{Settings: settings(t, "data.clips=a.csv", "net.mil=true")},
			"scenes 96 adamw 0"},
		"size":   {Sources{Settings: settings(t, "data.manifest=a.csv", "net.input_size=64")}, "scenes 64 adamw 0.2"},
		"net":    {Sources{Settings: settings(t, "data.manifest=a.csv", "net.arch=vgg16")}, "vgg16 0 sgd 0.0005"},
		"resnet": {Sources{Settings: settings(t, "data.manifest=a.csv", "net.arch=resnet18")}, "resnet18 0 adamw 0.2"},
		"weights": {Sources{Settings: settings(t, "data.manifest=a.csv", "net.weights="+weightsFile)},
			"vgg16 0 sgd 0.0005"},
		"paper": {Sources{Preset: PaperCOCOPreset, Settings: settings(t, "data.captions=a.json", "data.images=a")},
			"vgg16 0 sgd 0.0005"},
		"features": {Sources{Settings: settings(t, "data.manifest=a.csv", "net.backbone=a.pth")}, "mlp 0 adam 0"},
	} {
		var config Config
		if err := c.sources.Resolve(&config); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := fmt.Sprint(config.Net.Arch, " ", config.Net.InputSize, " ", config.Train.Optimizer, " ",
			config.Train.WeightDecay)
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// Frames of moving scenes decay, whole clips do not, unless a decay is given.
func TestSetMIL_WholeClipsDoNotDecay(t *testing.T) {
	for _, c := range []struct {
		texts []string
		want  [2]float64 // of frames and of whole clips
	}{
		{nil, [2]float64{.5, 0}},
		{[]string{"train.weight_decay=0.5"}, [2]float64{.5, .5}},
		{[]string{"train.weight_decay=0.01"}, [2]float64{.01, .01}},
		{[]string{"data.video_level=frame"}, [2]float64{.5, .5}},
	} {
		for i, mil := range []string{"false", "true"} {
			var config Config
			expect.OK(t, Sources{Preset: MovingScenesPreset, Settings: settings(t, append(c.texts, "net.mil="+mil)...)}.Resolve(
				&config))
			expect.OK(t, config.Complete())
			other := config
			other.SetMIL(mil == "false")
			if other.Train.WeightDecay != c.want[1-i] {
				t.Errorf("%q, MIL changed to %t: decay %v, want %v", c.texts, mil == "false", other.Train.WeightDecay,
					c.want[1-i])
			}
			if config.Train.WeightDecay != c.want[i] {
				t.Errorf("%q, MIL %s: decay %v, want %v", c.texts, mil, config.Train.WeightDecay, c.want[i])
			}
		}
	}
}

// A head on few rows learns in small batches, unless the size is given or was changed.
func TestSizeBatch_AnEpochOfFewRowsHasSteps(t *testing.T) {
	for _, c := range []struct {
		rows   int
		given  []string
		change int // of the size, by a program
		want   int
	}{
		{10_000, nil, 0, 64}, {1024, nil, 0, 64}, {1023, nil, 0, 32}, {112, nil, 0, 4}, {3, nil, 0, 4},
		{112, []string{"train.batch_size=64"}, 0, 64}, {112, nil, 128, 128},
	} {
		var config Config
		expect.OK(t, Sources{Settings: settings(t, append(c.given, "data.features.train.features=x.npy",
			"data.features.train.labels=y.npy")...)}.Resolve(&config))
		config.Train.BatchSize = cmp.Or(c.change, config.Train.BatchSize)
		config.sizeBatch(&loader.Set{IDs: make([]string, c.rows), Vectors: oneFrame{}})
		if got := config.Train.BatchSize; got != c.want || config.LeftOpen("train.batch_size_mil") && c.given == nil &&
			c.change == 0 {
			t.Errorf("%d rows, %q, %d: %d, want %d; chosen %v", c.rows, c.given, c.change, got, c.want, config.Chosen)
		}
	}
}

// A table shows that it lists clips only when it is read.
func TestSettleDecay_OfClipsInATable(t *testing.T) {
	for mil, want := range map[string]float64{"false": .5, "true": 0} {
		var config Config
		expect.OK(t, Sources{Settings: settings(t, "data.manifest=a.csv", "net.mil="+mil)}.Resolve(&config))
		if got := config.Train.WeightDecay; got != train.ScenesPreset().WeightDecay {
			t.Errorf("MIL %s, pictures: decay %v", mil, got)
		}
		config.Data.ManifestOfClips = true
		if config.settleDecay(); config.Train.WeightDecay != want {
			t.Errorf("MIL %s, clips: decay %v, want %v", mil, config.Train.WeightDecay, want)
		}
	}
}
