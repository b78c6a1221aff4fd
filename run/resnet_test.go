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
	"nmn/loader/picture"
	"nmn/model"
	"nmn/run/document"
	"nmn/train"
)

// settings are some that are written as on a command line.
func settings(t *testing.T, texts ...string) []*document.Setting {
	t.Helper()
	return value(document.ParseSettings(texts...))(t)
}

// resolved is a configuration for a manifest, with some settings.
func resolved(t *testing.T, texts ...string) (Config, error) {
	t.Helper()
	var c Config
	err := Sources{Settings: settings(t, append([]string{"data.manifest=pictures.csv"}, texts...)...)}.Resolve(&c)
	return c, err
}

func TestResNet_ConfigurationIsThatOfTheNet(t *testing.T) {
	c, err := resolved(t, "net.arch=resnet50", "net.mil=true")
	must(t, err)
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
	vgg, err := resolved(t)
	if err != nil || vgg.Net.Arch != NetVGG16 || !reflect.DeepEqual(vgg.Train.LearningRates, train.Paper().LearningRates) {
		t.Errorf("without a name the net is %s with rates %v, %v", vgg.Net.Arch, vgg.Train.LearningRates, err)
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
	must(t, err)
	var tensors []safetensors.Tensor
	for _, node := range config.Backbone() {
		if node.Kind == model.Convolution {
			tensors = append(tensors, safetensors.Tensor{Name: node.File + ".weight", Shape: []int{1}, Data: []float32{1}})
		}
	}
	var b bytes.Buffer
	must(t, safetensors.Write(&b, nil, tensors))
	file := filepath.Join(t.TempDir(), "net.safetensors")
	must(t, os.WriteFile(file, b.Bytes(), 0o666))
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
