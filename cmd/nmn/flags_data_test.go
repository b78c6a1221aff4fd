package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nmn/internal/setting"
	"nmn/run"
)

// onScenes are the commands that take data without a run, on the built-in scenes.
var onScenes = []string{"train", "doctor", "experiment", "noise"}

func TestDataFlags_ThatTheScenesDoNotReadAreRefused(t *testing.T) {
	mine := t.TempDir()
	for _, command := range onScenes {
		for _, flag := range [][]string{{"--images", mine}, {"--labels", "y.csv"}, {"--vocab", "v.txt"},
			{"--val-captions", "c.json"}, {"--frames-dir", "f/"}, {"--max-bad-samples", "0"}} {
			wantUsage(t, call(t, append([]string{command, "--print-config"}, flag...)...),
				flag[0]+" has no effect on the built-in scenes: give --", command)
		}
	}
	wantUsage(t, call(t, "train", "--config", writeConfigFile(t, "data:\n  images: "+mine+"\n"), "--print-config"),
		"--images has no effect on the built-in scenes")
}

// Every flag of the data, given its default value, is taken or refused by its name: none is dropped in silence.
func TestDataFlags_GivenTheirDefaultsAreReadOrRefused(t *testing.T) {
	sources := map[string][]string{"scenes": nil, "captions": {"--captions", "c.json", "--images", "d"},
		"manifest": {"--manifest", "m.csv"}, "features": {"--features", "x.csv"}, "clips": {"--clips", "d"},
		"msrvtt": {"--msrvtt", "a.json", "--frames-dir", "d"}, "moving-scenes": {"--preset", "moving-scenes"}}
	c, cmd := run.DefaultConfig(), &cobra.Command{}
	dataFlags(cmd, &c)
	featureDataFlags(cmd, &c, true)
	keys := setting.KeysOf(&c)
	for name, source := range sources {
		base := printed(t, append([]string{"train"}, source...)...)
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			key := flagKey(f, keys)
			if !strings.HasPrefix(key, "data.") || f.DefValue == "" || f.Name == "data" || f.Name == "noise" {
				return
			}
			got := call(t, append([]string{"train", "--print-config", "--" + f.Name + "=" + f.DefValue}, source...)...)
			if refusal := base.Data.Unread(&base.Data, func(k string) bool { return k == key }); refusal != nil {
				wantUsage(t, got, "--"+f.Name+" has no effect")
			} else if got.code != exitOK {
				t.Errorf("%s: --%s is refused: %s", name, f.Name, got.err)
			}
		})
	}
}

func TestDataFlags_FilesThatTheProgramHasWrittenPass(t *testing.T) {
	for _, args := range [][]string{nil, {"--size", "full"}, {"--preset", "moving-scenes"},
		{"--captions", "c.json", "--images", "d"}, {"--manifest", "m.csv"}, {"--features", "x.csv"}, {"--clips", "d"},
		{"--preset", "paper-msrvtt", "--msrvtt", "a.json", "--frames-dir", "d"}} {
		first := must(t, append([]string{"train", "--print-config"}, args...)...)
		if again := must(t, "train", "--config", writeConfigFile(t, first), "--print-config"); again != first {
			t.Errorf("%q reads back as another configuration", args)
		}
	}
}

// Runs of before a setting was refused go on; a flag over them is refused where it says nothing.
func TestDataFlags_OverARun(t *testing.T) {
	dir := trainedArm(t, "stage1")
	for _, command := range []string{"eval", "extract"} {
		wantUsage(t, call(t, command, dir, "--images", t.TempDir(), "--print-config"),
			"--images has no effect on the built-in scenes")
	}
	file := filepath.Join(dir, run.ConfigFile)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	old := strings.Replace(string(text), `images: ""`, "images: mine/", 1)
	if old == string(text) {
		t.Fatal("the configuration of the run has no data.images")
	}
	if err := os.WriteFile(file, []byte(old), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := printed(t, "eval", dir); got.Data.Images != "mine/" {
		t.Errorf("images %q, want those of the file", got.Data.Images)
	}
}
