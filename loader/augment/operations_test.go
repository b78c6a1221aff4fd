package augment

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"nmn/format/npy"
	"nmn/internal/expect"
	"nmn/loader/picture"
)

// operation is a case of testdata/operations.json: an operation of torchvision on a picture of Pillow.
type operation struct {
	Op            string
	Width, Height int
	Before, After int // position of the pixels
	Strength      float64
	Magnitude     int
	Negative      bool
	X, Y          int
	Cropped       []int
}

// fill is what the script fills with what comes from beyond a picture.
var fill = [3]uint8{124, 117, 104}

func operations(t *testing.T) ([]operation, []uint8) {
	t.Helper()
	text, err := os.ReadFile("testdata/operations.json")
	expect.OK(t, err)
	var all []operation
	expect.OK(t, json.Unmarshal(text, &all))
	file, err := os.ReadFile("testdata/pixels.npy")
	expect.OK(t, err)
	_, n, err := npy.ReadHeader(bytes.NewReader(file))
	expect.OK(t, err)
	return all, file[n:]
}

// opNamed is the operation of RandAugment with a name.
func opNamed(name string) (Op, bool) {
	for op := range Op(len(randOperations)) {
		if op.String() == name {
			return op, true
		}
	}
	return 0, false
}

// run does the operation of a case on a picture.
func (o *operation) run(t *testing.T, w *Worker, v *view) {
	t.Helper()
	if op, ok := opNamed(o.Op); ok {
		w.apply(v, Step{op, op.strength(o.Magnitude, o.Negative, v.width, v.height)})
		return
	}
	switch o.Op {
	case "brightness":
		brightness(v, o.Strength)
	case "contrast":
		contrast(v, o.Strength)
	case "saturation":
		saturation(v, o.Strength)
	case "hue":
		hue(v, o.Strength)
	case "sharpness":
		w.sharpness(v, o.Strength)
	case "posterize":
		posterize(v, int(o.Strength))
	case "solarize":
		solarize(v, o.Strength)
	case "autocontrast":
		autoContrast(v)
	case "equalize":
		equalize(v)
	case "rotate":
		w.transform(v, rotation(o.Strength, v.width, v.height))
	default:
		t.Fatalf("the operation %q is unknown", o.Op)
	}
}

// Every operation gives what torchvision gives, but for one grey level where Pillow rounds a sum of floats otherwise.
// Geometry takes the same pixels.
func TestOperations_AreThoseOfTorchvision(t *testing.T) {
	all, pixels := operations(t)
	counted := map[string]int{}
	for _, o := range all {
		if o.Op == "crop" {
			continue
		}
		n := 3 * o.Width * o.Height
		counted[o.Op]++
		// In the corner of a larger canvas, whose rest must stay.
		const around = 4
		stride := 3 * (o.Width + around)
		canvas := bytes.Repeat([]byte{77}, stride*(o.Height+around))
		v := view{canvas, stride, o.Width, o.Height}
		for y := range o.Height {
			copy(v.row(y), pixels[o.Before+3*y*o.Width:][:3*o.Width])
		}
		o.run(t, NewWorker(NewDraws(Config{}, 1), fill), &v)
		want, most, differ := pixels[o.After:o.After+n], 0, 0
		for y := range o.Height {
			for i, got := range v.row(y) {
				d := int(got) - int(want[3*y*o.Width+i])
				if d = max(d, -d); d > 0 {
					differ++
				}
				most = max(most, d)
			}
			for _, rest := range canvas[y*stride+3*o.Width : (y+1)*stride] {
				if rest != 77 {
					t.Fatalf("%s changes pixels beside the picture", o.Op)
				}
			}
		}
		allowed := 1
		if strings.Contains("rotate ShearX ShearY TranslateX TranslateY Rotate posterize equalize autocontrast", o.Op) {
			allowed = 0
		}
		if most > allowed || differ > n/100 {
			t.Errorf("%s strength %g, magnitude %d, negative %t on %d×%d: %d of %d values differ, by up to %d", o.Op,
				o.Strength, o.Magnitude, o.Negative, o.Width, o.Height, differ, n, most)
		}
	}
	for op := range Op(len(randOperations)) {
		if counted[op.String()] < 3 {
			t.Errorf("%d cases of %s", counted[op.String()], op)
		}
	}
}

func TestCut_IsTheCropOfTorchvision(t *testing.T) {
	all, pixels := operations(t)
	cases := 0
	for _, o := range all {
		if o.Op != "crop" {
			continue
		}
		cases++
		var pic picture.Picture
		pic.Resize(o.Width, o.Height)
		copy(pic.Pix, pixels[o.Before:])
		cut(&pic, Rect{o.X, o.Y, o.Cropped[0], o.Cropped[1]})
		want := pixels[o.After:][:3*o.Cropped[0]*o.Cropped[1]]
		if pic.Width != o.Cropped[0] || pic.Height != o.Cropped[1] || !bytes.Equal(pic.Pix, want) {
			t.Errorf("the crop of %d×%d at %d, %d differs", o.Cropped[0], o.Cropped[1], o.X, o.Y)
		}
	}
	if cases == 0 {
		t.Error("no case of a crop")
	}
}
