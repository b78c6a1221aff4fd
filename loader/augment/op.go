package augment

import "math"

// Op is an operation of RandAugment: an index of randOperations.
type Op int

// magnitude is how far an operation goes, for magnitudes of 0 to 30 as in torchvision's RandAugment with 31 bins.
type magnitude struct {
	share         float64 // of the greatest magnitude
	signed        float64 // share, or -share to go the other way
	width, height int     // of the picture
}

// farthest is how far a picture is moved at most, as a share of its side.
const farthest = 150. / 331

// randOperations are the operations in torchvision's order, by the names that papers use.
var randOperations = [...]struct {
	name     string
	strength func(m magnitude) float64 // strength in the unit that apply takes
	apply    func(w *Worker, v *view, strength float64)
}{
	{"Identity", none, func(*Worker, *view, float64) {}},
	// Pixels to the left for each row down, and up for each column to the right.
	{"ShearX", shear, func(w *Worker, v *view, s float64) { w.transform(v, affine{a: 1, b: s, e: 1}) }},
	{"ShearY", shear, func(w *Worker, v *view, s float64) { w.transform(v, affine{a: 1, d: s, e: 1}) }},
	// Pixels to the right, and down.
	{"TranslateX", func(m magnitude) float64 { return math.Trunc(farthest * float64(m.width) * m.signed) },
		func(w *Worker, v *view, s float64) { w.transform(v, affine{a: 1, c: -s, e: 1}) }},
	{"TranslateY", func(m magnitude) float64 { return math.Trunc(farthest * float64(m.height) * m.signed) },
		func(w *Worker, v *view, s float64) { w.transform(v, affine{a: 1, e: 1, f: -s}) }},
	// Degrees, against the clock.
	{"Rotate", func(m magnitude) float64 { return 30 * m.signed },
		func(w *Worker, v *view, s float64) { w.transform(v, rotation(s, v.width, v.height)) }},
	// Factors: 1 changes nothing, 0 makes the picture black, grey, of its mean grey, and smooth.
	{"Brightness", factor, func(_ *Worker, v *view, s float64) { brightness(v, s) }},
	{"Color", factor, func(_ *Worker, v *view, s float64) { saturation(v, s) }},
	{"Contrast", factor, func(_ *Worker, v *view, s float64) { contrast(v, s) }},
	{"Sharpness", factor, func(w *Worker, v *view, s float64) { w.sharpness(v, s) }},
	// Bits of each colour that are kept, and the value from which colours are inverted.
	{"Posterize", func(m magnitude) float64 { return 8 - math.RoundToEven(4*m.share) },
		func(_ *Worker, v *view, s float64) { posterize(v, int(s)) }},
	{"Solarize", func(m magnitude) float64 { return 255 - 255*m.share },
		func(_ *Worker, v *view, s float64) { solarize(v, s) }},
	// Each colour is stretched to 0 to 255, or gets a flat histogram.
	{"AutoContrast", none, func(_ *Worker, v *view, _ float64) { autoContrast(v) }},
	{"Equalize", none, func(_ *Worker, v *view, _ float64) { equalize(v) }},
}

func none(magnitude) float64     { return 0 }
func shear(m magnitude) float64  { return .3 * m.signed }
func factor(m magnitude) float64 { return 1 + .9*m.signed }

// String is the name that papers use.
func (o Op) String() string { return randOperations[o].name }

// strength returns the strength for a magnitude of 0 to 30. Operations with two directions, stronger and weaker or left
// and right, are reversed if negative is set.
func (o Op) strength(of int, negative bool, width, height int) float64 {
	m := magnitude{share: float64(of) / mostMagnitude, width: width, height: height}
	m.signed = m.share
	if negative {
		m.signed = -m.share
	}
	return randOperations[o].strength(m)
}
