package main

import (
	"path/filepath"
	"strings"
	"testing"

	"nmn/recipe"
)

// tinyResNet is tiny with a narrow ResNet-18.
func tinyResNet(command string, args ...string) []string {
	return append([]string{command, "--net", "resnet18", "--set", "net.width=0.125", "--input-size", "48",
		"--set", "data.train_size=48", "--set", "data.validation_size=16", "--set", "data.test_size=16", "--epochs", "1",
		"--device", "cpu", "--threads", "1"}, args...)
}

// A residual net learns by arms of every kind, with instances and without: TestRanks_TrainWhatOneProcessTrains goes
// through all of them.
func TestTrain_ResNetByArmsOfEveryKind(t *testing.T) {
	t.Parallel()
	skipShort(t, "trains several runs")
	for i, arm := range []recipe.Name{recipe.FI, recipe.FD, recipe.EM, recipe.Baseline, recipe.SoftLabels} {
		dir := filepath.Join(t.TempDir(), "run")
		args := tinyResNet("train", "--arm", string(arm), "--run-dir", dir, "--json")
		if i%2 == 0 {
			args = append(args, "--mil")
		}
		if arm == recipe.SoftLabels {
			args = append(args, "--noise-rates", "folds:2")
		}
		ran := readJSON(t, must(t, args...))
		if ran["evaluation"] == nil {
			t.Errorf("%s: %v", arm, ran)
		}
	}
}

func TestTrain_ResNetFromItsRunFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	trained := readJSON(t, must(t, tinyResNet("train", "--arm", "nmn-fd", "--mil", "--set",
		"train.freeze=[\"backbone.conv1.*\", \"backbone.layer1.*\"]", "--set",
		"train.learning_rates=[{pattern: \"head.fc.*\", multiplier: 10}]", "--run-dir", dir, "--json")...))
	evaluated := readJSON(t, must(t, "eval", dir, "--device", "cpu", "--json"))
	if a, b := figures(t, trained["evaluation"]), figures(t, evaluated); a != b {
		t.Errorf("the run says\n%s\nthe evaluation\n%s", a, b)
	}
	for _, ending := range []string{".onnx", ".safetensors", ".npz"} {
		file := filepath.Join(t.TempDir(), "net"+ending)
		wantParts(t, must(t, "export", dir, "--observed", "--output", file), "folded")
		if ending == ".safetensors" {
			again := must(t, "config", "--arm", "stage1", "--init", file, "--set", "net.width=0.125", "--input-size", "48",
				"--set", "data.train_size=48", "--set", "data.validation_size=16", "--set", "data.test_size=16", "--epochs", "1",
				"--device", "cpu")
			wantParts(t, again, "arch: resnet18")
		}
	}
	features := filepath.Join(t.TempDir(), "f.npy")
	must(t, "extract", dir, "--layer", "pool5", "--split", "test", "--output", features, "--device", "cpu")
	if shape, _ := readArray(t, features); len(shape) != 2 || shape[0] != 16 || shape[1] != 64 {
		t.Errorf("features of shape %v", shape)
	}
	wantUsage(t, call(t, "extract", dir, "--layer", "fc7", "--split", "test", "--output", features, "--device", "cpu"),
		"pool5 and probabilities")
}

func TestTrain_ResNetTellsWhatItLacks(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"dropout":        {"--set", "net.dropout=0.5"},
		"leave them out": {"--set", "net.fc6=8"},
		"matches no parameter; names run from backbone.conv1.weight to head.fc.bias": {"--set",
			"train.freeze=[\"head.fc8.*\"]"},
		"resnet34, resnet50 or resnet101": {"--net", "resnet19"},
	} {
		c := call(t, tinyResNet("train", append([]string{"--run-dir", filepath.Join(t.TempDir(), "run")}, args...)...)...)
		if c.code == exitOK || !strings.Contains(c.err, want) {
			t.Errorf("%v: exit code %d, %s", args, c.code, c.err)
		}
	}
}
