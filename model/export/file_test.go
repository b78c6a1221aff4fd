package export

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"nmn/format/safetensors"
	"nmn/internal/expect"
	"nmn/model"
)

func TestFile_WritesTheFormatThatTheEndingNames(t *testing.T) {
	net, dir := newNet(t, noisy()), t.TempDir()
	for _, name := range []string{"net.ONNX", "net.npz", "net.safetensors"} {
		path := filepath.Join(dir, name)
		done, err := File(path, net, FileOptions{GraphOptions: GraphOptions{Observed: true, Words: []string{"a", "b", "c"}},
			Metadata: map[string]string{"key": "value"}})
		expect.OK(t, err)
		info, err := os.Stat(path)
		expect.OK(t, err)
		if done.Bytes != info.Size() || done.Classes != 3 || done.Tensors == 0 ||
			(done.Outputs != nil) != (name == "net.ONNX") {
			t.Errorf("%s of %d bytes: %+v", name, info.Size(), done)
		}
	}
	f, err := safetensors.Open(filepath.Join(dir, "net.safetensors"))
	expect.OK(t, err)
	defer f.Close()
	if f.Metadata["key"] != "value" {
		t.Errorf("metadata %v", f.Metadata)
	}
}

func TestFile_LeavesNothingOfWhatFails(t *testing.T) {
	plain, dir := noisy(), t.TempDir()
	plain.Noise = model.NoNoise
	net := newNet(t, plain)
	expect.Refusal(t, expect.ErrorOf(File(filepath.Join(dir, "net.onnx"), net, FileOptions{GraphOptions: GraphOptions{Observed: true}})),
		"", ErrNoNoise)
	if _, err := File(filepath.Join(dir, "net.txt"), net, FileOptions{}); err == nil {
		t.Error("an ending that is none was written")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	if slices.Contains(Endings, Ending("net.txt")) {
		t.Error(".txt is an ending of a format")
	}
}
