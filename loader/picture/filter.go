package picture

import "fmt"

// Filter selects how pixels are interpolated when a picture is resized.
type Filter string

const (
	// FilterAntialias averages over all pixels of the picture that a pixel of the result covers. It is the
	// filter BILINEAR of the Python library Pillow, which torchvision's Resize takes by default. Pixels equal
	// the output of Pillow that resizes along x first, as all versions earlier than 13 do. When it enlarges a
	// picture it interpolates between two neighbours, as FilterBilinear does, and may differ from
	// FilterBilinear by the rounding between x and y.
	FilterAntialias Filter = "antialias"
	// FilterBicubic is Pillow's BICUBIC in the same way: cubic curves (a = -1/2) over twice as many pixels, which keep
	// edges sharper.
	FilterBicubic Filter = "bicubic"
	// FilterBilinear interpolates between two neighbours even if a picture shrinks, and skips the pixels
	// between: torch.nn.functional.interpolate(mode="bilinear"). The zero value of a Filter means the same.
	FilterBilinear Filter = "bilinear"
)

// Filters lists all filters.
func Filters() []Filter { return []Filter{FilterAntialias, FilterBicubic, FilterBilinear} }

// Validate refuses a name that is no filter; the empty one is FilterBilinear.
func (f Filter) Validate() error {
	switch f {
	case "", FilterAntialias, FilterBicubic, FilterBilinear:
		return nil
	}
	return fmt.Errorf("resize %q is unknown; choose %q, %q or %q", f, FilterAntialias, FilterBicubic, FilterBilinear)
}
