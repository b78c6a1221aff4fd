package run_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/format/safetensors"
	"nmn/loader/dataset"
	"nmn/model/backbone"
	"nmn/run"
	"nmn/run/document"
	"nmn/train"
)

// backboned is a configuration of painted data with the net of withBackbone as their backbone.
func backboned(t *testing.T, set dataset.Kind, mil bool) run.Config {
	t.Helper()
	weights, c := withBackbone(t, 1).Net.Backbone, run.Config{}
	texts := []string{"data.set=" + string(set), "net.backbone=" + weights, "net.input_size=32",
		fmt.Sprintf("net.mil=%t", mil),
		"net.hidden=[]", "data.train_size=16", "data.validation_size=4", "data.test_size=6", "run.device=cpu",
		"run.threads=1"}
	if set == dataset.MovingScenes {
		texts = append(texts, "data.frames=3")
	}
	given, err := document.ParseSettings(texts...)
	must(t, err)
	err = run.Sources{Settings: given}.Resolve(&c)
	must(t, err)
	return c
}

// Each frame of a clip has features of its own, those that extract gives it, which are kept and not computed again.
func TestOpen_TakesFeaturesOfEachFrameOfClips(t *testing.T) {
	c, dir := backboned(t, dataset.MovingScenes, true), t.TempDir()
	open := func() (s *run.Session, taken int) {
		t.Helper()
		s = value(run.Open(t.Context(), c, run.Options{RunDir: dir, FeaturesTaken: func(int, int) { taken++ }}))(t)
		t.Cleanup(func() { s.Close() })
		return s, taken
	}
	s, taken := open()
	if frames := 3 * (16 + 4 + 6); taken != frames {
		t.Errorf("features of %d frames were taken, want %d", taken, frames)
	}
	v := s.Data.Train.Vectors
	var got [][]float32
	for bag := range s.Data.Train.Len() {
		for frame := range v.Frames(bag) {
			row := make([]float32, v.Width())
			must(t, v.Read(t.Context(), bag, frame, row))
			got = append(got, row)
		}
	}
	plain := c
	plain.Net = run.BaseConfig().Net
	plain.Net.Arch, plain.Data.VideoLevel = run.NetScenes, dataset.LevelVideo
	other := value(run.Open(t.Context(), plain, run.Options{}))(t)
	defer other.Close()
	b := value(other.OpenBackbone(t.Context(), c.Net.Backbone, backbone.Options{Size: 32}))(t)
	defer b.Close()
	o := run.DefaultExtractOptions()
	o.Layers, o.PerFrame = nil, true
	o.Row = func(frame int, rows [][]float32) error {
		if !slices.Equal(rows[0], got[frame]) {
			t.Errorf("frame %d has other features than extract gives", frame)
		}
		return nil
	}
	if done, err := b.Extract(t.Context(), nil, o); err != nil || done[0].Rows != len(got) {
		t.Errorf("%+v: %v", done, err)
	}
	if _, taken := open(); taken != 0 {
		t.Errorf("features of %d frames were taken once more", taken)
	}
	if text := s.Backbone.String(); !strings.Contains(text, "pool5 of VGG16") || !strings.Contains(text, "middle 32×32") {
		t.Errorf("the session says %q of its backbone", text)
	}
}

// A head learns frames, clips as means, and clips by noisy-or, and says so in its page and its model.
func TestTrain_BehindABackboneOnClips(t *testing.T) {
	t.Parallel()
	logits := map[string][]float32{}
	for name, change := range map[string]func(*run.Config){
		"frames": func(c *run.Config) { c.Data.VideoLevel = dataset.LevelFrame },
		"means":  func(c *run.Config) {},
		"mil":    func(c *run.Config) { c.Net.MIL = true },
	} {
		c := backboned(t, dataset.MovingScenes, false)
		change(&c)
		c.Arm, c.Recipe.Form, c.NoiseRates, c.Train.Stage1Epochs, c.Train.Patience = "stage1", "paper", "", 2, 0
		s, err := run.Open(t.Context(), c, run.Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		dir := filepath.Join(t.TempDir(), "run")
		o, err := s.Train(t.Context(), dir)
		if err != nil {
			t.Fatal(name, err)
		}
		if o.Backbone == nil || o.Backbone.Layer != "pool5" || o.MIL != c.Net.MIL {
			t.Errorf("%s: the result says %+v, MIL %t", name, o.Backbone, o.MIL)
		}
		must(t, s.Close())
		f := value(safetensors.Open(filepath.Join(dir, train.LastName)))(t)
		values, _, err := f.Float32("head.fc1.weight")
		if err != nil {
			t.Fatal(name, err, f.Names())
		}
		f.Close()
		logits[name] = values
	}
	for a, one := range logits {
		for b, other := range logits {
			if a < b && slices.Equal(one, other) {
				t.Errorf("%s and %s have learned the same", a, b)
			}
		}
	}
}

func TestConfig_BackboneJoinsFramesAlone(t *testing.T) {
	c := withBackbone(t, 8)
	c.Net.MIL = true
	if _, err := run.Open(t.Context(), c, run.Options{}); err == nil || !strings.Contains(err.Error(),
		"these data are no clips") {
		t.Errorf("noisy-or over single pictures: %v", err)
	}
	c = backboned(t, dataset.Scenes, false)
	c.Net.MIL = true
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "these data are no clips") {
		t.Errorf("noisy-or over single scenes: %v", err)
	}
	c = backboned(t, dataset.Scenes, false)
	c.Data.TrainSize, c.Data.ValidationSize, c.Data.TestSize = 0, 0, 0
	if err := c.Complete(); err != nil || c.Data.TrainSize != 4000 {
		t.Errorf("scenes whose number nobody says are %d: %v", c.Data.TrainSize, err)
	}
}
