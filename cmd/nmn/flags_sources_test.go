package main

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"nmn/loader/dataset"
	"nmn/recipe"
	"nmn/run"
	"nmn/run/document"
	"nmn/train"
)

// printed is the configuration that a command line resolves to.
func printed(t *testing.T, args ...string) run.Config {
	t.Helper()
	var c run.Config
	check(t, readYAML("printed", []byte(must(t, asConfig(args)...)), &c))
	return c
}

// asConfig is the command line of nmn config for that of a command which takes the same settings.
func asConfig(args []string) []string {
	of := []string{"config"}
	for i := 1; i < len(args); i++ {
		switch name, _, with := strings.Cut(args[i], "="); name {
		case "--run-dir", "--run-name", "--seeds", "--arms", "--mil-arms", "--replace-captions", "--metrics-addr",
			"--metrics-push", "--task",
			"--progress", "--budget", "--rank-timeout":
			if !with {
				i++
			}
		case "--restart", "--dry-run", "--json", "--tasks", "--collect", "-q", "--quiet":
		default:
			of = append(of, args[i])
		}
	}
	return of
}

func TestConfig_LayersInOrder(t *testing.T) {
	file := written(t, "nmn.yaml", "data:\n  noise: 0.2\n  test_size: 77\ntrain:\n  batch_size: 8\n  learning_rate: 0.5\n")
	c := printed(t, "train", "--config", file, "--learning-rate", "0.25")
	if c.Train.LearningRate != .25 { // flag over file
		t.Errorf("learning rate %v, want that of the flag", c.Train.LearningRate)
	}
	if c.Data.Noise != .2 || c.Data.TestSize != 77 || c.Train.BatchSize != 8 { // file over preset
		t.Errorf("data %+v, batch %d: want those of the file", c.Data, c.Train.BatchSize)
	}
	if c.Train.Optimizer != "adamw" || c.Data.TrainSize != 4000 { // preset over defaults
		t.Errorf("optimizer %q, %d pictures: want those of the preset", c.Train.Optimizer, c.Data.TrainSize)
	}
}

func TestConfig_PresetsAndSizes(t *testing.T) {
	t.Parallel()
	if c := printed(t, "train", "--size", "full"); c.Data.TrainSize != 16000 || c.Train.Stage1Epochs != 3 {
		t.Errorf("full: %d pictures, %d epochs", c.Data.TrainSize, c.Train.Stage1Epochs)
	}
	c := printed(t, "train", "--set", "data.captions=c.json", "--images", "d")
	if c.Preset != run.PaperCOCOPreset || c.Net.Arch != run.NetScenes || c.Data.Set != dataset.Captions ||
		c.Train.Optimizer != "adamw" {
		t.Errorf("captions without preset: %s, %s, %s, %s", c.Preset, c.Net.Arch, c.Data.Set, c.Train.Optimizer)
	}
	for args, keep := range map[string]bool{"": false, "--preset paper-coco": true,
		"--set data.keep_function_words=true":                                 true,
		"--preset scenes --set data.keep_function_words=false":                false,
		"--config " + written(t, "nmn.yaml", "data:\n  vocabulary_size: 5\n"): true} {
		c := printed(t, append([]string{"train", "--set", "data.captions=c.json", "--images", "d"},
			strings.Fields(args)...)...)
		if c.Data.KeepFunctionWords != keep {
			t.Errorf("%s: function words are kept: %t", args, c.Data.KeepFunctionWords)
		}
	}
	if c = printed(t, "train", "--preset", "scenes", "--set", "data.captions=c.json", "--images",
		"d"); c.Data.Noise != 0 ||
		c.Net.Arch != run.NetScenes {
		t.Errorf("noise %v was put into data of others, or the net is %s", c.Data.Noise, c.Net.Arch)
	}
	if c = printed(t, "train", "--preset", "scenes", "--set", "data.captions=c.json", "--images", "d",
		"--noise", "0.6"); c.Data.Noise != .6 {
		t.Errorf("noise %v, want .6", c.Data.Noise)
	}
}

func TestConfig_LaterFlagOfOneFieldCounts(t *testing.T) {
	if c := printed(t, "train", "--epochs", "9", "--set", "train.stage2_epochs=2"); c.Train.Stage1Epochs != 9 ||
		c.Train.Stage2Epochs != 2 {
		t.Errorf("epochs %d and %d, want 9 and 2", c.Train.Stage1Epochs, c.Train.Stage2Epochs)
	}
	if c := printed(t, "train", "--set", "train.stage2_epochs=2", "--epochs", "9"); c.Train.Stage2Epochs != 9 {
		t.Errorf("epochs %d, want 9", c.Train.Stage2Epochs)
	}
	if c := printed(t, "train", "--arm", "baseline"); c.Arm != recipe.Baseline {
		t.Errorf("arm %q, want baseline", c.Arm)
	}
	if c := printed(t, "train", "--noise", "labels.jsonl"); c.Data.NoiseFile != "labels.jsonl" || c.Data.Noise != 0 {
		t.Errorf("noise %v from %q", c.Data.Noise, c.Data.NoiseFile)
	}
}

func TestConfig_NoiseStartSetsAllAndSingleSettingsAfterIt(t *testing.T) {
	paper := printed(t, "train", "--set", "train.noise=paper").Train.Noise
	if !reflect.DeepEqual(paper, train.PaperNoise()) {
		t.Errorf("noise start %+v, want the paper's", paper)
	}
	mixed := printed(t, "train", "--set", "data.captions=c.json", "--images", "d", "--set", "train.noise=scenes",
		"--set", "train.noise.bias_multiplier=3").Train.Noise
	want := train.InformedNoise()
	if want.BiasMultiplier = 3; !reflect.DeepEqual(mixed, want) {
		t.Errorf("noise start %+v, want that of scenes with factor 3 for b", mixed)
	}
	wantUsage(t, call(t, "train", "--set", "train.noise=guess"), "want scenes, paper, or settings of its own")
}

func TestConfig_LossSetsItsDefaultsAndSingleSettingsAfterIt(t *testing.T) {
	baseline := func(args ...string) train.LossConfig {
		return printed(t, append([]string{"train", "--arm", "baseline"}, args...)...).Train.Loss
	}
	if loss := baseline("--set", "train.loss=ll-ct"); loss != train.DefaultLoss(train.CorrectLarge) {
		t.Errorf("loss %+v, want the default of its kind", loss)
	}
	file := written(t, "nmn.yaml", "train:\n  loss: {kind: ll-r, delta: 0.4}\n")
	if loss := baseline("--config", file); loss != (train.LossConfig{Kind: train.RejectLarge, Delta: .4}) {
		t.Errorf("loss %+v, want that of the file", loss)
	}
	want := train.DefaultLoss(train.Asymmetric)
	want.Margin = .2
	if loss := baseline("--set", "train.loss=asl", "--set", "train.loss.margin=0.2", "--config", file); loss != want {
		t.Errorf("loss %+v, want %+v", loss, want)
	}
	if text := must(t, "config", "--set", "train.loss=bce"); strings.Contains(text, "loss:") {
		t.Errorf("a configuration of the usual loss mentions it:\n%s", text)
	}
	wantUsage(t, call(t, "train", "--arm", "nmn-fi", "--set", "train.loss=asl"), "arm nmn-fi has a noise model")
	wantUsage(t, call(t, "train", "--arm", "baseline", "--set", "train.loss=focal"), "want bce, asl, ll-r or ll-ct")
	wantUsage(t, call(t, "train", "--arm", "baseline", "--set", "train.loss.delta=0.3"),
		"loss.delta is 0.3, which is for the loss ll-r or ll-ct")
}

func TestConfig_FaultsNameFileAndLine(t *testing.T) {
	for _, test := range []struct{ name, text, says string }{
		{"unknown key", "data:\n  noise: 0.2\n  noises: 3\n", `nmn.yaml:3: unknown key "noises"`},
		{"unknown section", "optimiser:\n  x: 1\n", `nmn.yaml:1: unknown key "optimiser"`},
		{"wrong type", "train:\n  batch_size: many\n", `nmn.yaml:2: "many" is not a whole number`},
		{"syntax", "train: [1\n", "nmn.yaml:"},
		{"repeated key", "size: quick\nsize: full\n", "nmn.yaml:2"},
		{"two documents", "size: quick\n---\nsize: full\n", "more than one"},
		{"value out of range", "train:\n  momentum: 2\n", "nmn.yaml:2: train.momentum is 2"},
		{"value of a choice", "arm: gan\n", `nmn.yaml:1: arm is "gan"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			wantUsage(t, call(t, "config", "--config", written(t, "nmn.yaml", test.text)), test.says)
		})
	}
	wantUsage(t, call(t, "train", "--config", filepath.Join(t.TempDir(), "none.yaml")), "none.yaml")
}

// The settings as JSON have the kinds that they have; records of the program are left out.
func TestConfig_PrintsSettingsAsJSON(t *testing.T) {
	settings := readJSON(t, must(t, "config", "--arm", "baseline", "--set", "train.seed=3", "--json"))
	_, isList := settings["data.features.label_columns"].([]any)
	if settings["arm"] != "baseline" || settings["train.seed"] != 3. || !isList || settings["build"] != nil {
		t.Errorf("%v", settings)
	}
}

func TestConfig_EmptyFileChangesNothing(t *testing.T) {
	if a, b := must(t, "config"), must(t, "config", "--config", written(t, "nmn.yaml", "")); a != b {
		t.Errorf("an empty file changed the configuration:\n%s", b)
	}
}

// Captions of one's own get estimated rates; the paper's protocol, asked for by name, the paper's noise model.
func TestConfig_CaptionsTakeTheRecipeAndThePaperIsKept(t *testing.T) {
	captions := []string{"config", "--set", "data.captions=captions.json", "--images", "pictures"}
	wantParts(t, must(t, captions...), "arm: caption-filter", "noise_rates: online", "preset: paper-coco")
	if out := must(t, append(captions, "--preset", "paper-coco")...); !strings.Contains(out, "arm: nmn-fd") ||
		strings.Contains(out, "form: estimate") {
		t.Errorf("with the preset by name: %.400s", out)
	}
}

// readYAML lays a document over a configuration.
func readYAML(name string, data []byte, config any) error {
	file, err := document.Parse(name, data)
	if err != nil {
		return err
	}
	return file.Decode(config)
}
