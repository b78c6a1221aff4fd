package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/setting"
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
	expect.OK(t, readYAML("printed", []byte(must(t, asConfig(args)...)), &c))
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

func TestSet_LaysSettingsOverFileAndFlags(t *testing.T) {
	c := succeeds(t, "config", "--preset", "scenes", "--noise", "0.1", "--set", "data.noise=0.25", "--set",
		"data.train_size=70", "--set", "data.train_size=77", "--set", "net.depths=[1, 2, 2, 1]", "--set",
		"train.noise.miss_rate=.3")
	wantParts(t, c.out, "    noise: 0.25\n", "    train_size: 77\n", "depths: [1, 2, 2, 1]\n", "miss_rate: [0.3]\n")
}

func TestSet_RefusesWithTheKeyThatIsNear(t *testing.T) {
	for given, want := range map[string]string{
		"data.nois=0.2":           "there is no setting data.nois; did you mean data.noise?",
		"train_size=2":            "there is no setting train_size; did you mean data.train_size?",
		"nonsense.of.mine=1":      "there is no setting nonsense.of.mine (see",
		"data.train_size=x":       `data.train_size: "x" is not a whole number`,
		"data.train_size=-3":      "data.train_size is -3, want at least 0",
		"train.noise.miss_rate=x": `"x" is not a number`,
		"train.noise.miss_rate=":  `"" is not a list`,
		"data.train_size":         "want a key and a value, such as data.noise=0.2",
		"=1":                      "want a key and a value",
		"preset=scenes":           "use --preset and --size",
		"net.widths=[1":           "net.widths: did not find expected",
		"data.images=x":           `--images: folder "x"`,
		"data.features.ids=a.x":   "data.features.ids has no effect on the built-in scenes",
		"data={nois: 1}":          `data: unknown key "nois"; did you mean data.noise?`,
	} {
		c := call(t, "config", "--preset", "scenes", "--set", given)
		wantCode(t, c, exitUsage, want)
	}
}

// For programs that draw progress, messages name settings by their keys.
func TestProgressJSON_NamesSettingsByTheirKeys(t *testing.T) {
	args := []string{"config", "--preset", "scenes", "--set", "data.images=none"}
	if c := call(t, args...); !strings.Contains(c.err, "--images") {
		t.Error(c.err)
	}
	var said struct{ Error failure }
	c := call(t, append(args, "--progress", "json")...)
	if err := json.Unmarshal([]byte(c.err), &said); err != nil || said.Error.Code != exitUsage ||
		!strings.Contains(said.Error.Message, "`data.images`: folder ") {
		t.Errorf("%v: %s", err, c.err)
	}
	c = call(t, "config", "--set", "train.batch_size=many", "--progress", "json") // the first flag is wrong
	if err := json.Unmarshal([]byte(c.err), &said); err != nil || said.Error.Key != "train.batch_size" {
		t.Errorf("%v: %s", err, c.err)
	}
}

// Settings of another source do not change what scenes are.
func TestSet_RefusesAnotherSourceThanScenes(t *testing.T) {
	for _, key := range []string{"clips", "msrvtt", "captions", "manifest", "features.train.features"} {
		for _, data := range []string{"scenes", "moving-scenes"} {
			c := call(t, "config", data, "--set", "data."+key+"=x.csv")
			wantCode(t, c, exitUsage, "data."+key, "leave ")
		}
	}
}

// onScenes are the commands that take data without a run, on the built-in scenes.
var onScenes = []string{"train", "doctor", "experiment", "noise"}

func TestDataFlags_ThatTheScenesDoNotReadAreRefused(t *testing.T) {
	t.Parallel()
	mine := t.TempDir()
	for _, command := range onScenes {
		for _, flag := range [][]string{{"--images", mine}, {"--labels", "y.csv"}, {"--vocab", "v.txt"},
			{"--set", "data.val_captions=c.json"}, {"--set", "data.frames_dir=f/"}, {"--max-bad-samples", "0"}} {
			wantUsage(t, call(t, append([]string{command}, flag...)...), " has no effect on the built-in scenes: give ", command)
		}
	}
	wantUsage(t, call(t, "config", "--config", written(t, "nmn.yaml", "data:\n  images: "+mine+"\n")),
		"--images has no effect on the built-in scenes")
}

// Every setting of the data, given its default value, is taken or refused by its name: none is dropped in silence.
func TestDataFlags_GivenTheirDefaultsAreReadOrRefused(t *testing.T) {
	t.Parallel()
	sources := map[string][]string{"scenes": nil, "captions": {"--set", "data.captions=c.json", "--images", "d"},
		"manifest": {"--set", "data.manifest=m.csv"}, "features": {"--set", "data.features.train.features=x.csv"},
		"clips": {"--set", "data.clips=d"}, "msrvtt": {"--set", "data.msrvtt=a.json", "--set", "data.frames_dir=d"},
		"moving-scenes": {"--preset", "moving-scenes"}}
	for name, source := range sources {
		base := printed(t, append([]string{"config"}, source...)...)
		for _, d := range setting.Describe(&base) {
			value := fmt.Sprint(d.Value)
			if !strings.HasPrefix(d.Key, "data.") || value == "" || value == "[]" || d.Key == "data.set" ||
				d.Key == "data.noise" {
				continue
			}
			key := d.Key
			got := call(t, slices.Concat([]string{"config"}, source, []string{"--set", key + "=" + value})...)
			if refusal := base.Data.Unread(&base.Data, func(k string) bool { return k == key }); refusal != nil {
				wantUsage(t, got, " has no effect")
			} else if got.code != exitOK {
				t.Errorf("%s: %s is refused: %s", name, key, got.err)
			}
		}
	}
}

func TestDataFlags_FilesThatTheProgramHasWrittenPass(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"--size", "full"},
		{"--mil", "--set", "train.noise.miss_rate=[0.1, 0.2]", "--set", "train.learning_rates=[{pattern: \"head.*\", " +
			"multiplier: 2}, {pattern: \"nmn.bias\", multiplier: 0.5}]"}, {"--preset", "moving-scenes"},
		{"--set", "data.captions=c.json", "--images", "d"}, {"--set", "data.manifest=m.csv"},
		{"--set", "data.features.train.features=x.csv"}, {"--set", "data.clips=d"},
		{"--preset", "paper-msrvtt", "--set", "data.msrvtt=a.json", "--set", "data.frames_dir=d"}} {
		first := must(t, append([]string{"config"}, args...)...)
		if again := must(t, "config", "--config", written(t, "nmn.yaml", first)); again != first {
			t.Errorf("%q reads back as another configuration", args)
		}
	}
}

// Runs of before a setting was refused go on; a flag over them is refused where it says nothing.
func TestDataFlags_OverARun(t *testing.T) {
	t.Parallel()
	dir := trainedArm(t, "stage1")
	for _, args := range [][]string{{"eval"}, {"extract", "--output", "x.npy"}} {
		wantUsage(t, call(t, append(args, dir, "--set", "data.images="+t.TempDir())...),
			"--images has no effect on the built-in scenes")
	}
	file := filepath.Join(dir, run.ConfigFile)
	text := readBytes(t, file)
	old := strings.Replace(string(text), ` images: ""`, " images: mine/", 1)
	if old == string(text) {
		t.Fatal("the configuration of the run has no data.images")
	}
	write(t, file, old)
	if got := printed(t, "config", "--config", file); got.Data.Images != "mine/" {
		t.Errorf("images %q, want those of the file", got.Data.Images)
	}
}

func TestConfig_PrintedReadsBackAsItself(t *testing.T) {
	first := must(t, "config", "--size", "full", "--mil", "--set",
		"train.learning_rates=[{pattern: \"head.*\", multiplier: 2}, {pattern: \"nmn.bias\", multiplier: 0.5}]",
		"--set", "train.noise.miss_rate=[0.1, 0.2]")
	again := must(t, "config", "--config", written(t, "nmn.yaml", first))
	if first != again {
		t.Errorf("not the same:\n%s\nand\n%s", first, again)
	}
}
