package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestSet_LaysSettingsOverFileAndFlags(t *testing.T) {
	c := succeeds(t, "config", "--preset", "scenes", "--noise", "0.1", "--set", "data.noise=0.25", "--set",
		"data.train_size=70", "--set", "data.train_size=77", "--set", "net.depths=[1, 2, 2, 1]", "--set",
		"train.noise.miss_rate=.3")
	wantParts(t, c.out, "    noise: 0.25\n", "    train_size: 77\n", "depths: [1, 2, 2, 1]\n", "miss_rate: [0.3]\n")
}

func TestSet_RefusesWithTheKeyThatIsNear(t *testing.T) {
	for given, want := range map[string]string{
		"data.nois=0.2":           "there is no setting data.nois; did you mean data.noise?",
		"train_size=2":            "there is no setting train_size; did you mean data.train_size?",
		"nonsense.of.mine=1":      "there is no setting nonsense.of.mine (see",
		"data.train_size=x":       `data.train_size: "x" is not a whole number`,
		"data.train_size=-3":      "data.train_size is -3, want at least 0",
		"train.noise.miss_rate=x": `"x" is not a number`,
		"train.noise.miss_rate=":  `"" is not a list`,
		"data.train_size":         "want a key and a value, such as data.noise=0.2",
		"=1":                      "want a key and a value",
		"preset=scenes":           "use --preset and --size",
		"net.widths=[1":           "net.widths: did not find expected",
		"data.images=x":           `--images: folder "x"`,
		"data.features.ids=a.x":   "data.features.ids has no effect on the built-in scenes",
		"data={nois: 1}":          `data: unknown key "nois"; did you mean data.noise?`,
	} {
		c := call(t, "config", "--preset", "scenes", "--set", given)
		if c.code != exitUsage || !strings.Contains(c.err, want) {
			t.Errorf("%s: exit code %d: %s, want %s", given, c.code, c.err, want)
		}
	}
}

// For programs that draw progress, messages name settings by their keys.
func TestProgressJSON_NamesSettingsByTheirKeys(t *testing.T) {
	args := []string{"config", "--preset", "scenes", "--set", "data.images=none"}
	if c := call(t, args...); !strings.Contains(c.err, "--images") {
		t.Error(c.err)
	}
	var said struct{ Error failure }
	c := call(t, append(args, "--progress", "json")...)
	if err := json.Unmarshal([]byte(c.err), &said); err != nil || said.Error.Code != exitUsage ||
		!strings.Contains(said.Error.Message, "`data.images`: folder ") {
		t.Errorf("%v: %s", err, c.err)
	}
	c = call(t, "config", "--set", "train.batch_size=many", "--progress", "json") // the first flag is wrong
	if err := json.Unmarshal([]byte(c.err), &said); err != nil || said.Error.Key != "train.batch_size" {
		t.Errorf("%v: %s", err, c.err)
	}
}

// Settings of another source do not change what scenes are.
func TestSet_RefusesAnotherSourceThanScenes(t *testing.T) {
	for _, key := range []string{"clips", "msrvtt", "captions", "manifest", "features.train.features"} {
		for _, data := range []string{"scenes", "moving-scenes"} {
			c := call(t, "config", data, "--set", "data."+key+"=x.csv")
			if c.code != exitUsage || !strings.Contains(c.err, "data."+key) || !strings.Contains(c.err, "leave ") {
				t.Errorf("%s with %s: exit code %d: %s", data, key, c.code, c.err)
			}
		}
	}
}
