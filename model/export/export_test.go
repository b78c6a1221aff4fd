package export

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/format/npy"
	"nmn/format/safetensors"
	"nmn/internal/expect"
	"nmn/model"
	"nmn/tools/conform"
)

func newNet(t *testing.T, c model.Config) *model.Net {
	t.Helper()
	net, err := model.New(c, conform.OpenCPU(t, 1))
	if err == nil {
		err = net.Init(model.PaperInit(1))
	}
	expect.OK(t, err)
	t.Cleanup(func() { _ = net.Close() })
	return net
}

func noisy() model.Config {
	c := model.Scenes(3, true).Narrow(.25)
	c.Noise = model.FeatureDependent
	return c
}

func TestWeights_BothFormatsHoldTheSame(t *testing.T) {
	net := newNet(t, noisy())
	for _, noise := range []bool{false, true} {
		s, err := os.Create(filepath.Join(t.TempDir(), "w.safetensors"))
		expect.OK(t, err)
		n, err := Safetensors(s, net, noise, map[string]string{"key": "value"})
		var z bytes.Buffer
		m, err2 := NPZ(&z, net, noise)
		if err = errors.Join(err, s.Close()); err != nil || err2 != nil || n != m {
			t.Fatal(n, m, err, err2)
		}
		f, err := safetensors.Open(s.Name())
		expect.OK(t, err)
		t.Cleanup(func() { _ = f.Close() })
		archive, err := zip.NewReader(bytes.NewReader(z.Bytes()), int64(z.Len()))
		expect.OK(t, err)
		if slices.Contains(f.Names(), "nmn.weight") != noise || len(archive.File) != n || f.Metadata["key"] != "value" {
			t.Errorf("noise %t: %q, %d arrays", noise, f.Names(), len(archive.File))
		}
		for _, entry := range archive.File {
			want, shape, err := f.Float32(strings.TrimSuffix(entry.Name, ".npy"))
			expect.OK(t, err)
			r, err := entry.Open()
			expect.OK(t, err)
			h, _, err := npy.ReadHeader(r)
			if err != nil || !slices.Equal(h.Shape, shape) {
				t.Fatalf("%s: %+v, want the shape %v, %v", entry.Name, h, shape, err)
			}
			data, err := io.ReadAll(r)
			got := make([]float32, len(data)/4)
			h.Float32s(got, data)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s differs, %v", entry.Name, err)
			}
		}
	}
}

func TestExport_ANoiseModelThatIsNotThereIsRefused(t *testing.T) {
	net := newNet(t, model.MLP(4, 2, nil))
	_, err := Safetensors(&limited{}, net, true, nil)
	_, err2 := NPZ(io.Discard, net, true)
	_, err3 := ONNX(io.Discard, net, GraphOptions{Observed: true})
	if !errors.Is(err, ErrNoNoise) || !errors.Is(err2, ErrNoNoise) || !errors.Is(err3, ErrNoNoise) {
		t.Error(err, err2, err3)
	}
}

// A file that cannot be written is an error, whatever is being written when the disk is full.
func TestExport_ErrorsOfTheWriterComeBack(t *testing.T) {
	net := newNet(t, noisy())
	full := errors.New("no space left")
	for _, room := range []int{0, 100, 5000} {
		for form, write := range map[string]func(io.WriteSeeker) (int, error){
			"safetensors": func(w io.WriteSeeker) (int, error) { return Safetensors(w, net, true, nil) },
			"npz":         func(w io.WriteSeeker) (int, error) { return NPZ(w, net, true) },
			"onnx":        func(w io.WriteSeeker) (int, error) { return ONNX(w, net, GraphOptions{Observed: true}) },
		} {
			t.Run(fmt.Sprint(form, " ", room), func(t *testing.T) {
				expect.Refusal(t, expect.ErrorOf(write(&limited{room, full})), "", full)
			})
		}
	}
}

type limited struct {
	left int
	err  error
}

func (l *limited) Write(b []byte) (int, error) {
	if l.left -= len(b); l.left < 0 {
		return 0, l.err
	}
	return len(b), nil
}

func (l *limited) Seek(int64, int) (int64, error) { return 0, nil }
