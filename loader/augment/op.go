package augment

import "math"

// Op is an operation of RandAugment.
type Op int

// The operations, in torchvision's order, each with the unit of its strength.
const (
	Identity     Op = iota
	ShearX          // pixels to the left for each row down
	ShearY          // pixels up for each column to the right
	TranslateX      // pixels to the right
	TranslateY      // pixels down
	Rotate          // degrees, against the clock
	Brightness      // factor: 0 is black, 1 changes nothing
	Color           // factor: 0 is grey, 1 changes nothing
	Contrast        // factor: 0 is the mean grey, 1 changes nothing
	Sharpness       // factor: 0 is smoothed, 1 changes nothing
	Posterize       // bits of each colour that are kept
	Solarize        // value from which colours are inverted
	AutoContrast    // none: each colour is stretched to 0 to 255
	Equalize        // none: each colour gets a flat histogram
	ops             // their number
)

// String is the name that papers use.
func (o Op) String() string {
	names := [ops]string{"Identity", "ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", "Brightness", "Color",
		"Contrast", "Sharpness", "Posterize", "Solarize", "AutoContrast", "Equalize"}
	if o < 0 || o >= ops {
		return "Op"
	}
	return names[o]
}

// strength returns the strength for a magnitude of 0 to 30, as in torchvision's RandAugment with 31 bins.
// Operations with two directions, stronger and weaker or left and right, are reversed if negative is set.
func (o Op) strength(magnitude int, negative bool, width, height int) float64 {
	share, sign := float64(magnitude)/mostMagnitude, 1.
	if negative {
		sign = -1
	}
	const farthest = 150. / 331 // share of the side
	switch o {
	case ShearX, ShearY:
		return sign * .3 * share
	case TranslateX:
		return sign * math.Trunc(farthest*float64(width)*share)
	case TranslateY:
		return sign * math.Trunc(farthest*float64(height)*share)
	case Rotate:
		return sign * 30 * share
	case Brightness, Color, Contrast, Sharpness:
		return 1 + sign*.9*share
	case Posterize:
		return 8 - math.RoundToEven(4*share)
	case Solarize:
		return 255 - 255*share
	}
	return 0
}
