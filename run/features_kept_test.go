package run_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nmn/format/safetensors"
	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/loader/dataset"
	"nmn/model/backbone"
	"nmn/run"
	"nmn/run/document"
	"nmn/train"
)

// withBackbone is a manifest of pictures with a narrow VGG16 as backbone, without its fully connected layers.
func withBackbone(t *testing.T, pictures int) run.Config {
	t.Helper()
	dir, stream := t.TempDir(), rng.New(9)
	var tensors []safetensors.Tensor
	in := 3
	for i, at := range []int{0, 2, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28} {
		out := []int{4, 4, 4, 4, 4, 4, 4, 6, 6, 6, 6, 6, 6}[i]
		weights := make([]float32, out*in*9)
		for k := range weights {
			weights[k] = float32(stream.Normal(0, .4))
		}
		name := fmt.Sprintf("features.%d", at)
		tensors = append(tensors, safetensors.Tensor{Name: name + ".weight", Shape: []int{out, in, 3, 3}, Data: weights},
			safetensors.Tensor{Name: name + ".bias", Shape: []int{out}, Data: make([]float32, out)})
		in = out
	}
	weights := filepath.Join(dir, "vgg.safetensors")
	if _, err := safetensors.WriteFile(weights, nil, tensors); err != nil {
		t.Fatal(err)
	}
	list := "path,labels\n"
	for i := range pictures {
		img := image.NewNRGBA(image.Rect(0, 0, 36, 34))
		for at := range 36 * 34 {
			img.SetNRGBA(at%36, at/36, color.NRGBA{uint8(stream.Intn(256)), uint8(11 * i), uint8(at), 255})
		}
		var data bytes.Buffer
		expect.OK(t, png.Encode(&data, img))
		name := fmt.Sprintf("%02d.png", i)
		expect.OK(t, os.WriteFile(filepath.Join(dir, name), data.Bytes(), 0o666))
		list += fmt.Sprintf("%s,word%d\n", name, i%2)
	}
	manifest := filepath.Join(dir, "list.csv")
	expect.OK(t, os.WriteFile(manifest, []byte(list), 0o666))
	var c run.Config
	given, err := document.ParseSettings("data.manifest="+manifest, "net.backbone="+weights, "net.input_size=32",
		"run.device=cpu", "run.threads=1")
	expect.OK(t, err)
	err = run.Sources{Settings: given}.Resolve(&c)
	expect.OK(t, err)
	return c
}

// featuresOf opens a session, and copies the features of the training split. taken counts those that were computed.
func featuresOf(ctx context.Context, c run.Config, dir string) (rows []float32, taken int, err error) {
	s, err := run.Open(ctx, c, run.Options{RunDir: dir, FeaturesTaken: func(int, int) { taken++ }})
	if err != nil {
		return nil, 0, err
	}
	v := s.Data.Train.Vectors
	for bag := range s.Data.Train.Len() {
		row := make([]float32, v.Width())
		if err := v.Read(ctx, bag, 0, row); err != nil {
			return nil, 0, err
		}
		rows = append(rows, row...)
	}
	return rows, taken, s.Close()
}

// endWith puts a byte after the end of a picture, where decoders do not look; cut is how many are taken away before.
func endWith(t *testing.T, path string, b byte, cut int) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, append(data[:len(data)+cut], b), 0o666)
	}
	expect.OK(t, err)
}

func TestOpen_KeepsFeatures(t *testing.T) {
	c, own := withBackbone(t, 40), t.TempDir()
	endWith(t, filepath.Join(filepath.Dir(c.Data.Manifest), "20.png"), 'a', 0)
	want, taken, err := featuresOf(t.Context(), c, own)
	if err != nil || taken != 40 || slices.Max(want) == slices.Min(want) {
		t.Fatalf("%d features were taken: %v", taken, err)
	}
	if again, taken, err := featuresOf(t.Context(), c, own); err != nil || taken != 0 || !slices.Equal(again, want) {
		t.Errorf("%d features were taken once more: %v", taken, err)
	}
	// A copy has other times. A picture that was painted over, to the same size, is another one.
	pictures, err := filepath.Glob(filepath.Join(filepath.Dir(c.Data.Manifest), "*.png"))
	if err != nil || len(pictures) != 40 {
		t.Fatal(pictures, err)
	}
	for i, path := range pictures {
		when := time.Date(2001, 1, 1, 0, 0, i, 0, time.UTC)
		expect.OK(t, os.Chtimes(path, when, when))
	}
	for _, why := range []string{"touched", "again"} {
		if again, taken, err := featuresOf(t.Context(), c, own); err != nil || taken != 0 || !slices.Equal(again, want) {
			t.Errorf("%s: %d features were taken once more: %v", why, taken, err)
		}
	}
	endWith(t, pictures[20], 'b', -1)
	if _, taken, err := featuresOf(t.Context(), c, own); err != nil || taken != 1 {
		t.Errorf("%d features were taken of one changed picture: %v", taken, err)
	}
}

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
	expect.OK(t, err)
	err = run.Sources{Settings: given}.Resolve(&c)
	expect.OK(t, err)
	return c
}

// Each frame of a clip has features of its own, those that extract gives it, which are kept and not computed again.
func TestOpen_TakesFeaturesOfEachFrameOfClips(t *testing.T) {
	c, dir := backboned(t, dataset.MovingScenes, true), t.TempDir()
	open := func() (s *run.Session, taken int) {
		t.Helper()
		s = expect.Value(run.Open(t.Context(), c, run.Options{RunDir: dir, FeaturesTaken: func(int, int) { taken++ }}))(t)
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
			expect.OK(t, v.Read(t.Context(), bag, frame, row))
			got = append(got, row)
		}
	}
	plain := c
	plain.Net = run.BaseConfig().Net
	plain.Net.Arch, plain.Data.VideoLevel = run.NetScenes, dataset.LevelVideo
	other := expect.Value(run.Open(t.Context(), plain, run.Options{}))(t)
	defer other.Close()
	b := expect.Value(other.OpenBackbone(t.Context(), c.Net.Backbone, backbone.Options{Size: 32}))(t)
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
		expect.OK(t, s.Close())
		f := expect.Value(safetensors.Open(filepath.Join(dir, train.LastName)))(t)
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
