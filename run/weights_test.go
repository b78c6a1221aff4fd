package run

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"nmn/format/safetensors"
	"nmn/internal/expect"
	"nmn/loader/picture"
	"nmn/model"
	"nmn/recipe"
	"nmn/run/document"
	"nmn/train"
)

// tiny is a configuration of stage 1 on a few scenes, whose training takes a moment.
func tiny(t *testing.T) Config {
	t.Helper()
	c := expect.Value(Preset(ScenesPreset, Quick))(t)
	c.Data.TrainSize, c.Data.ValidationSize, c.Data.TestSize = 24, 0, 8
	c.Net.Width, c.Train.Stage1Epochs, c.Train.Stage2Epochs, c.Run.Device = .5, 1, 1, "cpu"
	c.Arm = recipe.Stage1
	return c
}

// opened opens a session that ends with the test.
func opened(t *testing.T, c Config, o Options) *Session {
	t.Helper()
	s := expect.Value(Open(t.Context(), c, o))(t)
	t.Cleanup(func() { expect.OK(t, s.Close()) })
	return s
}

// learn trains the run of a session, or goes on with it.
func learn(t *testing.T, s *Session, dir string) {
	t.Helper()
	_, err := s.Train(t.Context(), dir)
	expect.OK(t, err)
}

// Every net of an experiment starts from the same file: what was taken from it is shown for the first seed alone.
func TestLoadWeights_AreShownOnceOverSeeds(t *testing.T) {
	c, dir := tiny(t), t.TempDir()
	learn(t, opened(t, c, Options{}), dir)
	c.Net.Weights = filepath.Join(dir, train.LastName)
	shown := 0
	all := opened(t, c, Options{Observer: Observer{Message: func(m Message) {
		if strings.HasPrefix(m.Text, "weights ") {
			shown++
		}
	}}})
	arms := expect.Value(c.PlannedArms())(t)
	for _, seed := range []uint64{1, 2} {
		c.Train.Seed = seed
		s := expect.Value(all.With(t.Context(), c))(t)
		nets := s.nets()
		net := expect.Value(nets.fresh(arms[0]))(t)
		expect.OK(t, net.Close())
	}
	if shown != 1 {
		t.Errorf("the table of weights is shown %d times for 2 seeds, want once", shown)
	}
}

// settings are some that are written as on a command line.
func settings(t *testing.T, texts ...string) []*document.Setting {
	t.Helper()
	return expect.Value(document.ParseSettings(texts...))(t)
}

// resolved is a configuration for a manifest, with some settings.
func resolved(t *testing.T, texts ...string) (Config, error) {
	t.Helper()
	var c Config
	err := Sources{Settings: settings(t, append([]string{"data.manifest=pictures.csv"}, texts...)...)}.Resolve(&c)
	return c, err
}

func TestResNet_ConfigurationIsThatOfTheNet(t *testing.T) {
	file := filepath.Join(t.TempDir(), "resnet50.safetensors")
	expect.OK(t, os.WriteFile(file, nil, 0o600))
	c, err := resolved(t, "net.arch=resnet50", "net.mil=true", "net.weights="+file)
	expect.OK(t, err)
	m := c.Net.Model(7, 0, model.NoNoise)
	want, _ := model.ResNet("resnet50", 7, true)
	if !reflect.DeepEqual(m, want) || m.Size != 448 || c.Fit() != picture.FitLongest {
		t.Errorf("net %+v, pictures fit %s", m, c.Fit())
	}
	if !reflect.DeepEqual(c.Train.LearningRates, train.ClassifierRates("head.fc")) {
		t.Errorf("rates of the last layer %+v", c.Train.LearningRates)
	}
	again, err := c.YAML()
	if err != nil || strings.Contains(string(again), "fc8") {
		t.Errorf("%s, %v", again, err)
	}
	own := []train.Rule{{Pattern: "head.*", Multiplier: 3}}
	c, err = resolved(t, "net.arch=resnet18", "train.learning_rates=[{pattern: head.*, multiplier: 3}]")
	if err != nil || !reflect.DeepEqual(c.Train.LearningRates, own) || c.Net.Model(7, 0, model.NoNoise).Size != 224 {
		t.Errorf("rates %+v, %v", c.Train.LearningRates, err)
	}
	vgg, err := resolved(t, "net.arch=vgg16")
	if err != nil || !reflect.DeepEqual(vgg.Train.LearningRates, train.Paper().LearningRates) {
		t.Errorf("%s has rates %v, %v", vgg.Net.Arch, vgg.Train.LearningRates, err)
	}
}

func TestResNet_PaintedScenesAreMadeTwiceAsLarge(t *testing.T) {
	for _, c := range []struct{ given, want int }{{0, 96}, {64, 64}} {
		var config Config
		err := Sources{Settings: settings(t, "net.arch=resnet18", fmt.Sprintf("net.input_size=%d", c.given))}.Resolve(&config)
		if err != nil || config.Net.InputSize != c.want {
			t.Errorf("input of %d for %d, %v", config.Net.InputSize, c.given, err)
		}
	}
}

// A file of a residual net determines its architecture, unless the user names a net or a preset.
func TestResNet_ArchitectureOfTheFile(t *testing.T) {
	config, err := model.ResNet("resnet34", 2, false)
	expect.OK(t, err)
	var tensors []safetensors.Tensor
	for _, node := range config.Backbone() {
		if node.Kind == model.Convolution {
			tensors = append(tensors, safetensors.Tensor{Name: node.File + ".weight", Shape: []int{1}, Data: []float32{1}})
		}
	}
	var b bytes.Buffer
	expect.OK(t, safetensors.Write(&b, nil, tensors))
	file := filepath.Join(t.TempDir(), "net.safetensors")
	expect.OK(t, os.WriteFile(file, b.Bytes(), 0o666))
	for _, c := range []struct {
		keys []string
		want NetName
	}{{nil, NetResNet34}, {[]string{"net.arch=vgg16"}, NetVGG16}} {
		got, err := resolved(t, append(c.keys, "net.weights="+file)...)
		if err != nil || got.Net.Arch != c.want {
			t.Errorf("given %v the net is %s, %v", c.keys, got.Net.Arch, err)
		}
	}
	var paper Config
	err = Sources{Preset: PaperCOCOPreset, Settings: settings(t, "data.captions=captions.json", "data.images=pictures",
		"net.weights="+file)}.Resolve(&paper)
	if err != nil || paper.Net.Arch != NetVGG16 {
		t.Errorf("the paper's protocol has the net %s, %v", paper.Net.Arch, err)
	}
}
