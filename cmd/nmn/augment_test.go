package main

import (
	"nmn/report"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// augmentSection is train.augment of a printed configuration, on one line.
func augmentSection(t *testing.T, args ...string) string {
	t.Helper()
	_, section, _ := strings.Cut(must(t, append([]string{"config", "--arm", "baseline"}, args...)...), "    augment:\n")
	section, _, _ = strings.Cut(section, "    optimizer:")
	return strings.Join(strings.Fields(section), " ")
}

func TestAugmentFlags_SetTheConfiguration(t *testing.T) {
	for args, want := range map[string]string{
		"":               "",
		"--augment none": "",
		"--augment light": "random_crop: area: [0.5, 1] color_jitter: brightness: 0.2 contrast: 0.2 saturation: 0.2 hue: " +
			"0.02",
		"--augment strong": "random_crop: area: [0.25, 1] rand_augment: operations: 2 magnitude: 9 random_erasing: " +
			"probability: 0.25",
		"--set train.augment.random_crop.area=[0.08,1] --set train.augment.random_crop.ratio=[0.5,2]": "random_crop: area: [0.08, 1] ratio: [0.5, 2]",
		"--augment light --set train.augment.random_crop.area=[0,0]":                                  "color_jitter: brightness: 0.2 contrast: 0.2 saturation: 0.2 hue: 0.02",
		"--augment light --set train.augment.mixup=0.4 --set train.augment.random_crop.area=[0.1,0.9]": "random_crop: area: [0.1, 0.9] color_jitter: brightness: 0.2 " +
			"contrast: 0.2 saturation: 0.2 hue: 0.02 mixup: 0.4",
	} {
		if got := augmentSection(t, strings.Fields(args)...); got != want {
			t.Errorf("%s gives %q\nwant %q", args, got, want)
		}
	}
}

func TestAugmentFlags_RefusalsNameFlagAndRange(t *testing.T) {
	t.Parallel()
	features := filepath.Join(t.TempDir(), "x.csv")
	write(t, features, "a,b\n1,2\n")
	for args, want := range map[string]string{
		"--set train.augment.random_crop.area=[2,1]": "train.augment.random_crop.area is 2:1, want two numbers of 0.0001 " +
			"to 1",
		"--set train.augment.random_crop.area=[x,1]":  `"x" is not a number`,
		"--set train.augment.random_crop.ratio=[2,3]": "train.augment.random_crop.area",
		"--set train.augment.random_crop.ratio=[2]":   "want a list of 2 values",
		"--set train.augment.color_jitter.brightness=0.1 --set train.augment.color_jitter.contrast=0.1 --set train.augment.color_jitter.saturation=0.1 --set train.augment.color_jitter.hue=0.7": "want at least 0 and at most 0.5",
		"--set train.augment.rand_augment.operations=2 --set train.augment.rand_augment.magnitude=31":                                                                                            "want at least 0 and at most 30",
		"--set train.augment.random_erasing.probability=.nan":                                                                                                                                    "is NaN, want at least 0 and at most 1",
		"--set train.augment.random_erasing.value=mean":                                                                                                                                          "train.augment.random_erasing.probability is 0, but area",
		"--set train.augment.mixup=0.0001 --arm baseline":                                                                                                                                        "train.augment.mixup is 0.0001, want 0 or 0.001 to 100",
		"--set train.augment.mixup=0.2 --arm nmn-fd":                                                                                                                                             "arm nmn-fd has a noise model, which learns by the likelihood of labels 0 and 1",
		"--set train.augment.mixup=0.2":                                                                                                                                                          "--arm baseline",
		"--augment some":                                                                                                                                                                         "none, light or strong",
		features +
			" --set train.augment.random_crop.area=[0.5,1]": "train.augment.mixup alone has an effect",
		"--set train.augment.mixup=0.2 --arm baseline --set data.evidence=e.npy": "leave out one of the two",
		features + " --augment strong":                                           "train.augment.mixup alone has an effect",
	} {
		wantCode(t, call(t, append([]string{"train", "--dry-run"}, strings.Fields(args)...)...), exitUsage, want)
	}
}

// A run with all augmentations is equal for any number of workers, names them on its page, and is not continued
// with other augmentations.
func TestTrain_WithAugmentations(t *testing.T) {
	skipShort(t, "trains several runs")
	t.Parallel()
	all := []string{"--arm", "baseline", "--augment", "strong", "--set", "train.augment.color_jitter={brightness: 0.2, " +
		"contrast: 0.2, saturation: 0.2, hue: 0.05}", "--set", "train.augment.mixup=0.3", "--set", "train.flip=true"}
	dir := trained(t, all...)
	page, err := os.ReadFile(filepath.Join(dir, report.HTMLFile))
	if err != nil || !strings.Contains(string(page), "mirrored half of the time, random crop 0.25:1 of the area") {
		t.Errorf("the page does not tell augmentations: %v", err)
	}
	other := trained(t, append(all, "--set", "run.workers=1", "--set", "run.prefetch=1")...)
	for _, name := range []string{"stage1/last.safetensors", "last.safetensors"} {
		a, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			continue // of an arm without it
		}
		if b, err := os.ReadFile(filepath.Join(other, name)); err != nil || string(a) != string(b) {
			t.Errorf("%s differs with one worker: %v", name, err)
		}
	}
}
