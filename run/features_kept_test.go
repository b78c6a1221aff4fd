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
	"testing"
	"time"

	"nmn/format/safetensors"
	"nmn/internal/rng"
	"nmn/run"
	"nmn/run/document"
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
		must(t, png.Encode(&data, img))
		name := fmt.Sprintf("%02d.png", i)
		must(t, os.WriteFile(filepath.Join(dir, name), data.Bytes(), 0o666))
		list += fmt.Sprintf("%s,word%d\n", name, i%2)
	}
	manifest := filepath.Join(dir, "list.csv")
	must(t, os.WriteFile(manifest, []byte(list), 0o666))
	var c run.Config
	given, err := document.ParseSettings("data.manifest="+manifest, "net.backbone="+weights, "net.input_size=32",
		"run.device=cpu", "run.threads=1")
	must(t, err)
	err = run.Sources{Settings: given}.Resolve(&c)
	must(t, err)
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
	must(t, err)
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
		must(t, os.Chtimes(path, when, when))
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

// must ends the test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// value is the result of a call that must not fail: value(f())(t).
func value[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		must(t, err)
		return v
	}
}
