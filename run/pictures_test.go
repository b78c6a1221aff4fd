package run

import (
	"os"
	"path/filepath"
	"testing"

	"nmn/loader/picture"
)

func TestResolve_HowPicturesAreRead(t *testing.T) {
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "config.yaml")
		must(t, os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	of := settings(t, "data.manifest=list.csv")
	const listed = "data: {set: manifest, manifest: list.csv"
	for name, c := range map[string]struct {
		sources     Sources
		resize      picture.Filter
		orientation picture.Orientation
	}{
		"pictures of somebody": {Sources{Settings: of}, picture.FilterAntialias, picture.OrientationApply},
		"the preset of the paper": {Sources{Settings: of, Preset: PaperCOCOPreset}, picture.FilterBilinear,
			picture.OrientationIgnore},
		"another preset": {Sources{Settings: of, Preset: ScenesPreset}, picture.FilterAntialias,
			picture.OrientationApply},
		"a file that does not say": {Sources{File: file(listed + "}\n")}, picture.FilterAntialias, picture.OrientationApply},
		"a file that does": {Sources{File: file(listed + ", resize: bilinear}\n")}, picture.FilterBilinear,
			picture.OrientationApply},
		"scenes": {Sources{}, "", ""},
	} {
		var config Config
		if err := c.sources.Resolve(&config); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if config.Data.Resize != c.resize || config.Data.Orientation != c.orientation {
			t.Errorf("%s: %q and %q", name, config.Data.Resize, config.Data.Orientation)
		}
		again := config
		if err := again.Complete(); err != nil || again.Data.Resize != c.resize || again.Data.Orientation != c.orientation {
			t.Errorf("%s: what is complete becomes %q and %q, %v", name, again.Data.Resize, again.Data.Orientation, err)
		}
	}
}
