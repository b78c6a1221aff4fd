package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"nmn/run"
)

// sourceArguments name the sources of the help on a command line.
var sourceArguments = map[string][]string{
	"scenes": nil, "scenes in full size": {"--size", "full"}, "moving scenes": {"--preset", "moving-scenes"},
	"moving scenes in full size": {"--preset", "moving-scenes", "--size", "full"},
	"captions":                   {"--captions", "c.json", "--images", "d"}, "manifests": {"--manifest", "m.csv"},
	"clips": {"--clips", "d"}, "MSR-VTT": {"--msrvtt", "a.json", "--frames-dir", "d"}, "features": {"--features", "x"},
}

// What the help says is what a command line with that source resolves to.
func TestHelp_DefaultsAreThoseThatHold(t *testing.T) {
	defaults, err := sourceDefaults()
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for name, args := range sourceArguments {
		held := printed(t, append([]string{"train"}, args...)...)
		var c run.Config
		cmd := &cobra.Command{}
		dataFlags(cmd, &c)
		featureDataFlags(cmd, &c, true)
		netFlags(cmd, &c)
		trainFlags(cmd, &c)
		runFlags(cmd, &c.Run)
		c = held
		for key, flag := range flagNames(cmd.Flags(), &c) {
			for _, d := range defaults[key] {
				if d.source != name {
					continue
				}
				compared++
				if got := cmd.Flags().Lookup(flag).Value.String(); got != d.value {
					t.Errorf("--%s is %q on %s, the help says %q", flag, got, name, d.value)
				}
			}
		}
	}
	if compared < 500 {
		t.Errorf("%d defaults were compared: there are more", compared)
	}
}

func TestHelp_SaysWhatADefaultDependsOn(t *testing.T) {
	words := strings.Join(strings.Fields(must(t, "train", "--help")), " ")
	for _, want := range []string{
		"the classifier alone (default 6 on scenes, 5 on moving scenes, 100 on features, 3 elsewhere)",
		"(default adam on scenes, moving scenes and features, sgd elsewhere)",
		"(default 256,256 on features)", "(default nmn-c on scenes and captions, r-s on features, r-n elsewhere)",
		"no file names them (default 0.2 on features, 0.1 elsewhere)",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("the help of train does not say %q", want)
		}
	}
	if words = must(t, "eval", "--help"); strings.Contains(words, "default 4000") {
		t.Error("the help of eval says a default that is not that of the run")
	}
}

func TestDefaultText_NamesSourcesAndTheRest(t *testing.T) {
	same := func(value string, sources ...string) (all []sourceDefault) {
		for _, s := range sources {
			all = append(all, sourceDefault{s, value})
		}
		return all
	}
	for want, all := range map[string][]sourceDefault{
		"8":                          same("8", "scenes", "captions", "features"),
		"":                           nil,
		"24 on scenes, 8 on clips":   append(same("24", "scenes"), same("8", "clips")...),
		"24 on scenes, 8 elsewhere":  append(same("24", "scenes"), same("8", "clips", "captions", "manifests")...),
		"8 on a, b and c":            append(same("", "scenes"), same("8", "a", "b", "c")...),
		"24 on scenes, 8 on a and b": append(same("24", "scenes", "scenes in full size"), same("8", "a", "b")...),
	} {
		if got := defaultText(all); got != want {
			t.Errorf("%v: %q, want %q", all, got, want)
		}
	}
}
