package picture

import (
	"errors"
	"fmt"
	"math"
)

// Preprocessing is the preparation of pictures for a pretrained network: the picture is resized, its middle
// is cut out, and its 8-bit values v become (v/255 - Mean) / Deviation in each of the channels red, green and
// blue.
type Preprocessing struct {
	// Resize is how many pixels the shorter side gets, and the longer one in proportion; with Square, both sides.
	Resize int  `json:"resize"`
	Square bool `json:"square"`
	// Filter is how pixels are interpolated: FilterAntialias and FilterBicubic are Pillow's BILINEAR and BICUBIC.
	Filter Filter `json:"filter"`
	// Crop is the side of the square that is cut out of the middle, at most Resize: the size of the network's input.
	Crop int `json:"crop"`
	// Mean and Deviation refer to values from 0 to 1.
	Mean      [3]float32 `json:"mean"`
	Deviation [3]float32 `json:"deviation"`
}

// TorchvisionPreprocessing is the preprocessing of torchvision's classifiers: ResNets (IMAGENET1K_V1), VGG
// and vit_b_16. Mean and deviation describe ImageNet's pixels.
func TorchvisionPreprocessing() Preprocessing {
	return Preprocessing{Resize: 256, Filter: FilterAntialias, Crop: 224,
		Mean:      [3]float32{.485, .456, .406},
		Deviation: [3]float32{.229, .224, .225}}
}

// DINOv2Preprocessing is the preprocessing of Meta's evaluation of DINOv2 and of its models on Hugging Face.
func DINOv2Preprocessing() Preprocessing {
	p := TorchvisionPreprocessing()
	p.Filter = FilterBicubic
	return p
}

// CLIPPreprocessing is the preprocessing of OpenAI's CLIP for pictures of 224 pixels.
func CLIPPreprocessing() Preprocessing {
	return Preprocessing{Resize: 224, Filter: FilterBicubic, Crop: 224,
		Mean:      [3]float32{.48145466, .4578275, .40821073},
		Deviation: [3]float32{.26862954, .26130258, .27577711}}
}

// MaxCrop is the most that Resize and Crop may be.
const MaxCrop = 1 << 12

// At is the same for an input of another size: the share of the picture that is cut out stays, as timm has it.
func (p Preprocessing) At(size int) Preprocessing {
	if p.Crop > 0 {
		p.Resize = size * p.Resize / p.Crop
	}
	p.Crop = size
	return p
}

// Validate returns what is out of range.
func (p Preprocessing) Validate() error {
	if p.Crop < 1 || p.Resize < p.Crop || p.Resize > MaxCrop {
		return fmt.Errorf("preprocessing: a square of %d pixels cannot be cut out of a picture whose shorter side has %d; "+
			"want 1 to %d", p.Crop, p.Resize, MaxCrop)
	}
	for c := range 3 {
		if mean, dev := float64(p.Mean[c]), float64(p.Deviation[c]); math.IsNaN(mean) || math.IsInf(mean, 0) ||
			!(dev > 0) || math.IsInf(dev, 0) {
			return errors.New("preprocessing: mean and deviation of each channel are finite, and the deviation above 0")
		}
	}
	return p.Filter.Validate()
}

// String describes it in a few words.
func (p Preprocessing) String() string {
	resize := fmt.Sprintf("shorter side to %d", p.Resize)
	if p.Square {
		resize = fmt.Sprintf("to %d×%d", p.Resize, p.Resize)
	}
	filter := map[Filter]string{FilterAntialias: "bilinear", FilterBicubic: "bicubic"}[p.Filter]
	if filter == "" {
		filter = "bilinear without smoothing"
	}
	text := fmt.Sprintf("%s, %s", resize, filter)
	if p.Crop != p.Resize || !p.Square {
		text += fmt.Sprintf(", middle %d×%d", p.Crop, p.Crop)
	}
	return fmt.Sprintf("%s, mean %v, deviation %v", text, p.Mean, p.Deviation)
}

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
