package run

import (
	"cmp"

	"nmn/loader/picture"
	"nmn/train"
)

// isPaper reports whether a preset keeps to the protocol of the paper.
func isPaper(name PresetName) bool { return name == PaperCOCOPreset || name == PaperMSRVTTPreset }

// picturesOf is how a net was trained to read pictures. What its checkpoint does not say, because it is older, the
// run folder says, else it is what such nets are usually trained with.
func picturesOf(checkpoint *train.Checkpoint, folder string) train.Pictures {
	if p := checkpoint.Pictures; p != nil {
		return *p
	}
	p := train.Pictures{Fit: picture.FitSquare, Resize: picture.FilterBilinear, Orientation: picture.OrientationIgnore}
	if c := checkpoint.Model; c.MIL && len(c.Depths) == 5 {
		p.Fit = picture.FitLongest
	}
	if run, err := ReadConfig(folder); err == nil {
		p.Fit = run.Fit()
		p.Resize = cmp.Or(run.Data.Resize, p.Resize)
		p.Orientation = cmp.Or(run.Data.Orientation, p.Orientation)
	}
	return p
}

// readAsTrained makes a configuration read pictures as a net was trained, but for what was given.
func (c *Config) readAsTrained(checkpoint *train.Checkpoint, folder string) {
	p := picturesOf(checkpoint, folder)
	if c.Data.Resize == "" || c.leftOpen("data.resize") {
		c.Data.Resize = p.Resize
	}
	if c.Data.Orientation == "" || c.leftOpen("data.orientation") {
		c.Data.Orientation = p.Orientation
	}
}
