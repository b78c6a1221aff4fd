package run

import (
	"nmn/loader/picture"
	"nmn/train"
)

// isPaper reports whether a preset keeps to the protocol of the paper.
func isPaper(name PresetName) bool { return name == PaperCOCOPreset || name == PaperMSRVTTPreset }

// picturesOf is how a net was trained to read pictures; what nets are usually trained with for one on features.
func picturesOf(checkpoint *train.Checkpoint) train.Pictures {
	if p := checkpoint.Pictures; p != nil {
		return *p
	}
	return train.Pictures{Fit: picture.FitSquare, Resize: picture.FilterBilinear, Orientation: picture.OrientationIgnore}
}

// ReadAsTrained makes a configuration read pictures as a net was trained, but for what was given.
func (c *Config) ReadAsTrained(checkpoint *train.Checkpoint) {
	p := picturesOf(checkpoint)
	if c.Data.Resize == "" || c.leftOpen("data.resize") {
		c.Data.Resize = p.Resize
	}
	if c.Data.Orientation == "" || c.leftOpen("data.orientation") {
		c.Data.Orientation = p.Orientation
	}
}
