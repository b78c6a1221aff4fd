package run

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"nmn/format/safetensors"
	"nmn/loader/dataset"
	"nmn/loader/picture"
	"nmn/model"
	"nmn/train"
)

// resolved is a configuration for a manifest, with some settings.
func resolved(t *testing.T, keys []string, apply func(*Config)) (Config, error) {
	t.Helper()
	var c Config
	err := Sources{Given: append(keys, "data.manifest"), Apply: func() error {
		c.Data.Set, c.Data.Manifest = dataset.Manifest, "pictures.csv"
		apply(&c)
		return nil
	}}.Resolve(&c)
	return c, err
}

func TestResNet_ConfigurationIsThatOfTheNet(t *testing.T) {
	c, err := resolved(t, []string{"net.arch"}, func(c *Config) { c.Net.Arch, c.Net.MIL = NetResNet50, true })
	if err != nil {
		t.Fatal(err)
	}
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
	c, err = resolved(t, []string{"net.arch", "train.learning_rates"}, func(c *Config) {
		c.Net.Arch, c.Train.LearningRates = NetResNet18, own
	})
	if err != nil || !reflect.DeepEqual(c.Train.LearningRates, own) || c.Net.Model(7, 0, model.NoNoise).Size != 224 {
		t.Errorf("rates %+v, %v", c.Train.LearningRates, err)
	}
	vgg, err := resolved(t, nil, func(*Config) {})
	if err != nil || vgg.Net.Arch != NetVGG16 || !reflect.DeepEqual(vgg.Train.LearningRates, train.Paper().LearningRates) {
		t.Errorf("without a name the net is %s with rates %v, %v", vgg.Net.Arch, vgg.Train.LearningRates, err)
	}
}

func TestResNet_PaintedScenesAreMadeTwiceAsLarge(t *testing.T) {
	for _, c := range []struct{ given, want int }{{0, 96}, {64, 64}} {
		var config Config
		err := Sources{Given: []string{"net.arch"}, Apply: func() error {
			config.Net.Arch, config.Net.InputSize = NetResNet18, c.given
			return nil
		}}.Resolve(&config)
		if err != nil || config.Net.InputSize != c.want {
			t.Errorf("input of %d for %d, %v", config.Net.InputSize, c.given, err)
		}
	}
}

// A file of a residual net says which one it is, unless somebody names the net or a preset.
func TestResNet_ArchitectureOfTheFile(t *testing.T) {
	config, err := model.ResNet("resnet34", 2, false)
	if err != nil {
		t.Fatal(err)
	}
	var tensors []safetensors.Tensor
	for _, node := range config.Backbone() {
		if node.Kind == model.Convolution {
			tensors = append(tensors, safetensors.Tensor{Name: node.File + ".weight", Shape: []int{1}, Data: []float32{1}})
		}
	}
	var b bytes.Buffer
	if err := safetensors.Write(&b, nil, tensors); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "net.safetensors")
	if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		keys []string
		arch NetName
		want NetName
	}{{nil, "", NetResNet34}, {[]string{"net.arch"}, NetVGG16, NetVGG16}} {
		got, err := resolved(t, append(c.keys, "net.weights"), func(config *Config) {
			config.Net.Weights = file
			if c.arch != "" {
				config.Net.Arch = c.arch
			}
		})
		if err != nil || got.Net.Arch != c.want {
			t.Errorf("given %v the net is %s, %v", c.keys, got.Net.Arch, err)
		}
	}
	var paper Config
	err = Sources{Preset: PaperCOCOPreset, Given: []string{"net.weights"}, Apply: func() error {
		paper.Data.Captions, paper.Data.Images, paper.Net.Weights = "captions.json", "pictures", file
		return nil
	}}.Resolve(&paper)
	if err != nil || paper.Net.Arch != NetVGG16 {
		t.Errorf("the paper's protocol has the net %s, %v", paper.Net.Arch, err)
	}
}
