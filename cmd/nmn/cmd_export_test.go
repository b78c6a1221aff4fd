package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/format/safetensors"
	"nmn/internal/expect"
	"nmn/train"
)

func TestExport_WritesWhatOthersAndNMNRead(t *testing.T) {
	t.Parallel()
	dir, to := trainedArm(t, "nmn-fd"), t.TempDir()
	out := func(name string) string { return filepath.Join(to, name) }
	for _, name := range []string{"m.onnx", "m.npz", "m.safetensors"} {
		v := readJSON(t, must(t, "export", dir, "--output", out(name), "--json"))
		info, err := os.Stat(out(name))
		if err != nil || v["bytes"].(float64) != float64(info.Size()) || v["tensors"].(float64) != 14 ||
			v["classes"].(float64) != 36 {
			t.Errorf("%s: %v, %v", name, v, err)
		}
	}
	pictures := filepath.Join(t.TempDir(), "scenes")
	must(t, "scenes", "--number", "6", "--split", "test", pictures)
	predict := func(model string, args ...string) string {
		return must(t, append([]string{"predict", model, pictures, "--format", "csv", "--fit", "square"}, args...)...)
	}
	if predict(out("m.safetensors")) != predict(dir) {
		t.Error("the exported model predicts otherwise than the run")
	}
	must(t, "export", dir, "--output", out("noise.safetensors"), "--observed")
	if predict(out("noise.safetensors"), "--observed") != predict(dir, "--observed") {
		t.Error("the exported noise model predicts otherwise than that of the run")
	}
	f, err := safetensors.Open(out("m.safetensors"))
	expect.OK(t, err)
	defer f.Close()
	for _, name := range f.Names() {
		if !strings.HasPrefix(name, "features.") && !strings.HasPrefix(name, "classifier.") {
			t.Errorf("tensor %q is none that torchvision has", name)
		}
	}
	if !strings.HasPrefix(f.Metadata["classes"], `["ball","box"`) {
		t.Errorf("classes %.40q", f.Metadata["classes"])
	}
	wantParts(t, must(t, "export", dir, "--output", out("o.onnx"), "--observed", "--input", "pixels"),
		"16 tensors, 36 classes", "probabilities and observed")
	c := call(t, tiny("train", "--arm", "stage1", "--init", out("m.safetensors"), "--run-dir", filepath.Join(to,
		"again"))...)
	if c.code != exitOK || strings.Contains(c.err, "starts at random") {
		t.Errorf("--init of an export: exit code %d, %s", c.code, c.err)
	}
}

func TestExport_MistakesAreNamed(t *testing.T) {
	t.Parallel()
	dir := trainedArm(t, "stage1")
	last := filepath.Join(dir, train.LastName)
	before := readBytes(t, last)
	link := filepath.Join(t.TempDir(), "same.safetensors")
	if err := os.Link(last, link); err != nil {
		t.Skip(err)
	}
	for says, args := range map[string][]string{
		".onnx, .safetensors or .npz": {"--output", "m.pth"},
		"is the model itself":         {"--output", link},
		"no noise model":              {"--output", filepath.Join(t.TempDir(), "m.onnx"), "--observed"},
		"--input is for .onnx":        {"--output", filepath.Join(t.TempDir(), "m.npz"), "--input", "pixels"},
	} {
		wantUsage(t, call(t, append([]string{"export", dir}, args...)...), says)
	}
	if after, err := os.ReadFile(last); err != nil || !slices.Equal(before, after) {
		t.Errorf("the checkpoint has changed, %v", err)
	}
	c := call(t, "export", dir, "--output", filepath.Join(t.TempDir(), "nowhere", "m.onnx"))
	wantFailure(t, c, "nowhere")
}
