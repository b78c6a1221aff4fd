package picture

import (
	"fmt"
	"math"
)

// scaled is the size of a picture that has been resized: the longer side is rounded down, as torchvision does it, and
// has at least a pixel.
func (p *Preprocessing) scaled(width, height int) (w, h int) {
	switch {
	case p.Square:
		return p.Resize, p.Resize
	case width <= height:
		return p.Resize, p.longer(height, width)
	}
	return p.longer(width, height), p.Resize
}

func (p *Preprocessing) longer(long, short int) int {
	return int(float64(p.Resize) * float64(long) / float64(short))
}

// longest bounds the longer side of a resized picture: of a picture that is a thin line, only the part for
// the middle is made.
const longest = 1 << 15

// Prepare resizes pic and cuts the middle of Crop×Crop pixels out of it onto canvas, which has that size:
// torchvision's Resize and CenterCrop on a Pillow image. With FilterAntialias and FilterBicubic the pixels
// are equal to it. The corner of the crop is at half of the remaining size, rounded to the nearest, and
// halves to even.
func (r *Resizer) Prepare(canvas []uint8, pic *Picture, p *Preprocessing) error {
	if err := checkPlace(canvas, p.Crop, pic); err != nil {
		return err
	}
	width, height := p.scaled(pic.Width, pic.Height)
	if max(width, height) > longest {
		return fmt.Errorf("%w: %d×%d pixels are too long and thin: with %d on the shorter side it has more than %d on the "+
			"other",
			ErrCorrupt, pic.Width, pic.Height, p.Resize, longest)
	}
	left, top := corner(width, p.Crop), corner(height, p.Crop)
	from, stride := pic.Pix, 3*pic.Width
	if width != pic.Width || height != pic.Height {
		if n := 3 * width * height; cap(r.whole) < n {
			r.whole = make([]uint8, n)
		}
		r.whole, stride = r.whole[:3*width*height], 3*width
		from = r.whole
		r.resize(r.whole, width, pic, p.Filter, width, height)
	}
	for y := range p.Crop {
		at := (top+y)*stride + 3*left
		copy(canvas[3*p.Crop*y:3*p.Crop*(y+1)], from[at:])
	}
	return nil
}

// corner returns where a crop of the given size begins in the middle of a side.
func corner(side, crop int) int { return int(math.RoundToEven(float64(side-crop) / 2)) }
