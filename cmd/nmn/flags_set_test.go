package main

import (
	"strings"
	"testing"
)

func TestSet_LaysSettingsOverFileAndFlags(t *testing.T) {
	c := call(t, "train", "--preset", "scenes", "--noise", "0.1", "--set", "data.noise=0.25", "--set",
		"data.train_size=70", "--set", "data.train_size=77", "--set", "net.depths=[1, 2, 2, 1]",
		"--print-config")
	if c.code != exitOK {
		t.Fatalf("exit code %d: %s", c.code, c.err)
	}
	for _, want := range []string{"    noise: 0.25\n", "    train_size: 77\n", "depths: [1, 2, 2, 1]\n"} {
		if !strings.Contains(c.out, want) {
			t.Errorf("no %q in\n%s", want, c.out)
		}
	}
}

func TestSet_RefusesWithTheKeyThatIsNear(t *testing.T) {
	for given, want := range map[string]string{
		"data.nois=0.2":         "there is no setting data.nois; did you mean data.noise?",
		"train_size=2":          "there is no setting train_size; did you mean data.train_size?",
		"nonsense.of.mine=1":    "there is no setting nonsense.of.mine (see",
		"data.train_size=x":     "data.train_size: `x` is not a whole number",
		"data.train_size=-3":    "data.train_size is -3, want at least 1",
		"data.train_size":       "want a key and a value, such as data.noise=0.2",
		"=1":                    "want a key and a value",
		"preset=scenes":         "named by --preset and --size",
		"net.widths=[1":         "net.widths: did not find expected",
		"data.images=x":         `--images is "x"`,
		"data.features.ids=a.x": "--ids has no effect on the built-in scenes",
		"data={nois: 1}":        `data: unknown key "nois"; did you mean data.noise?`,
	} {
		c := call(t, "train", "--preset", "scenes", "--set", given, "--print-config")
		if c.code != exitUsage || !strings.Contains(c.err, want) {
			t.Errorf("%s: exit code %d: %s, want %s", given, c.code, c.err, want)
		}
	}
}

// Who draws progress itself knows settings by their keys.
func TestProgressJSON_NamesSettingsByTheirKeys(t *testing.T) {
	args := []string{"train", "--preset", "scenes", "--set", "data.images=none", "--print-config"}
	if c := call(t, args...); !strings.Contains(c.err, "--images") {
		t.Error(c.err)
	}
	if c := call(t, append(args, "--progress", "json")...); !strings.Contains(c.err, "`data.images` is ") {
		t.Error(c.err)
	}
}
