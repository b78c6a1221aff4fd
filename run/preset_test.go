package run

import (
	"maps"
	"testing"

	"nmn/recipe"
	"nmn/run/internal/folder"
)

// A configuration that another program makes from a preset is completed as the sources of a command line are.
func TestOpen_CompletesAPresetAsSourcesDo(t *testing.T) {
	for _, name := range Presets() {
		for _, arm := range append(recipe.PaperArms(), "", recipe.RN) {
			change := func(c *Config) {
				if arm != "" {
					c.Arm = arm
				}
				switch name {
				case FeaturesPreset:
					c.Data.Features.Train.Features = "x.npy"
				case PaperCOCOPreset:
					c.Data.Captions, c.Data.Images = "captions.json", "images"
				case PaperMSRVTTPreset:
					c.Data.MSRVTT, c.Data.FramesDir = "annotations.json", "frames"
				}
			}
			var want Config
			sources := Sources{Preset: name, Apply: func() error { change(&want); return nil }}
			if arm != "" {
				sources.Given = []string{"arm"}
			}
			failure := sources.Resolve(&want)
			got, err := Preset(name, "")
			if err != nil {
				t.Fatal(err)
			}
			change(&got)
			if err := got.Complete(); (err == nil) != (failure == nil) {
				t.Errorf("%s, arm %q: %v, want %v", name, arm, err, failure)
			}
			if !maps.Equal(folder.Flatten(&got), folder.Flatten(&want)) || got.byDefault != want.byDefault {
				key, was, is := FirstChange(&want, &got)
				t.Errorf("%s, arm %q: %s is %s, want %s", name, arm, key, is, was)
			}
			if failure != nil {
				continue
			}
			again := got
			err = again.Complete()
			if err != nil || !maps.Equal(folder.Flatten(&again), folder.Flatten(&got)) || again.byDefault != got.byDefault {
				t.Errorf("%s, arm %q: what is complete is changed: %v", name, arm, err)
			}
		}
	}
}
