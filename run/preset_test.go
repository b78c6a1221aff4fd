package run

import (
	"maps"
	"testing"

	"nmn/recipe"
	"nmn/run/folder"
)

// A configuration that another program makes from a preset is completed as the sources of a command line are.
func TestOpen_CompletesAPresetAsSourcesDo(t *testing.T) {
	t.Parallel()
	for _, name := range Presets() {
		for _, arm := range append(recipe.PaperArms(), "", recipe.HeldRates) {
			var given []string
			if arm != "" {
				given = append(given, "arm="+string(arm))
			}
			switch name {
			case FeaturesPreset:
				given = append(given, "data.features.train.features=x.npy")
			case PaperCOCOPreset:
				given = append(given, "data.captions=captions.json", "data.images=images")
			case PaperMSRVTTPreset:
				given = append(given, "data.msrvtt=annotations.json", "data.frames_dir=frames")
			}
			var want Config
			sources := Sources{Preset: name, Settings: settings(t, given...)}
			failure := sources.Resolve(&want)
			got, err := Preset(name, "")
			must(t, err)
			for _, one := range sources.Settings {
				must(t, one.Apply(&got))
			}
			if err := got.Complete(); (err == nil) != (failure == nil) {
				t.Errorf("%s, arm %q: %v, want %v", name, arm, err, failure)
			}
			if !maps.Equal(folder.Flatten(&got), folder.Flatten(&want)) {
				key, was, is := FirstChange(&want, &got)
				t.Errorf("%s, arm %q: %s is %s, want %s", name, arm, key, is, was)
			}
			if failure != nil {
				continue
			}
			again := got
			err = again.Complete()
			if err != nil || !maps.Equal(folder.Flatten(&again), folder.Flatten(&got)) {
				t.Errorf("%s, arm %q: what is complete is changed: %v", name, arm, err)
			}
		}
	}
}
