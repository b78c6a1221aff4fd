package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/setting"
	"nmn/run"
)

// onScenes are the commands that take data without a run, on the built-in scenes.
var onScenes = []string{"train", "doctor", "experiment", "noise"}

func TestDataFlags_ThatTheScenesDoNotReadAreRefused(t *testing.T) {
	t.Parallel()
	mine := t.TempDir()
	for _, command := range onScenes {
		for _, flag := range [][]string{{"--images", mine}, {"--labels", "y.csv"}, {"--vocab", "v.txt"},
			{"--set", "data.val_captions=c.json"}, {"--set", "data.frames_dir=f/"}, {"--max-bad-samples", "0"}} {
			wantUsage(t, call(t, append([]string{command}, flag...)...), " has no effect on the built-in scenes: give ", command)
		}
	}
	wantUsage(t, call(t, "config", "--config", written(t, "nmn.yaml", "data:\n  images: "+mine+"\n")),
		"--images has no effect on the built-in scenes")
}

// Every setting of the data, given its default value, is taken or refused by its name: none is dropped in silence.
func TestDataFlags_GivenTheirDefaultsAreReadOrRefused(t *testing.T) {
	t.Parallel()
	sources := map[string][]string{"scenes": nil, "captions": {"--set", "data.captions=c.json", "--images", "d"},
		"manifest": {"--set", "data.manifest=m.csv"}, "features": {"--set", "data.features.train.features=x.csv"},
		"clips": {"--set", "data.clips=d"}, "msrvtt": {"--set", "data.msrvtt=a.json", "--set", "data.frames_dir=d"},
		"moving-scenes": {"--preset", "moving-scenes"}}
	for name, source := range sources {
		base := printed(t, append([]string{"config"}, source...)...)
		for _, d := range setting.Describe(&base) {
			value := fmt.Sprint(d.Value)
			if !strings.HasPrefix(d.Key, "data.") || value == "" || value == "[]" || d.Key == "data.set" ||
				d.Key == "data.noise" {
				continue
			}
			key := d.Key
			got := call(t, slices.Concat([]string{"config"}, source, []string{"--set", key + "=" + value})...)
			if refusal := base.Data.Unread(&base.Data, func(k string) bool { return k == key }); refusal != nil {
				wantUsage(t, got, " has no effect")
			} else if got.code != exitOK {
				t.Errorf("%s: %s is refused: %s", name, key, got.err)
			}
		}
	}
}

func TestDataFlags_FilesThatTheProgramHasWrittenPass(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"--size", "full"}, {"--mil", "--set", "train.noise.miss_rate=[0.1, 0.2]", "--set",
		"train.learning_rates=[{pattern: \"head.*\", multiplier: 2}, {pattern: \"nmn.bias\", multiplier: 0.5}]"}, {"--preset", "moving-scenes"},
		{"--set", "data.captions=c.json", "--images", "d"}, {"--set", "data.manifest=m.csv"},
		{"--set", "data.features.train.features=x.csv"}, {"--set", "data.clips=d"},
		{"--preset", "paper-msrvtt", "--set", "data.msrvtt=a.json", "--set", "data.frames_dir=d"}} {
		first := must(t, append([]string{"config"}, args...)...)
		if again := must(t, "config", "--config", written(t, "nmn.yaml", first)); again != first {
			t.Errorf("%q reads back as another configuration", args)
		}
	}
}

// Runs of before a setting was refused go on; a flag over them is refused where it says nothing.
func TestDataFlags_OverARun(t *testing.T) {
	t.Parallel()
	dir := trainedArm(t, "stage1")
	for _, args := range [][]string{{"eval"}, {"extract", "--output", "x.npy"}} {
		wantUsage(t, call(t, append(args, dir, "--set", "data.images="+t.TempDir())...),
			"--images has no effect on the built-in scenes")
	}
	file := filepath.Join(dir, run.ConfigFile)
	text := readBytes(t, file)
	old := strings.Replace(string(text), ` images: ""`, " images: mine/", 1)
	if old == string(text) {
		t.Fatal("the configuration of the run has no data.images")
	}
	write(t, file, old)
	if got := printed(t, "config", "--config", file); got.Data.Images != "mine/" {
		t.Errorf("images %q, want those of the file", got.Data.Images)
	}
}
