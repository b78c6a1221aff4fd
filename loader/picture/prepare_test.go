package picture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/kernels/simd"
)

// detailed is a picture with fine detail and hard edges; testdata/prepare.py makes the same.
func detailed(width, height int) *Picture {
	pic := new(Picture)
	pic.Resize(width, height)
	for i := range pic.Pix {
		x, y, c := i/3%width, i/3/width, i%3
		switch {
		case (x/5+y/3)%2 == 0:
			pic.Pix[i] = uint8(x*x*7 + y*13 + c*29 + x*y*3)
		case (x+c)%3 != 0:
			pic.Pix[i] = 255
		default:
			pic.Pix[i] = 0
		}
	}
	return pic
}

func TestPrepare_PixelsAreThoseOfTheFixtures(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "prepare.json"))
	expect.OK(t, err)
	var cases []struct {
		Width, Height, Resize, Crop int
		Square                      bool
		Filter                      Filter
		Pixels                      []byte
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) == 0 {
		t.Fatal(err, len(cases))
	}
	for _, level := range simd.Levels() {
		resizer := NewResizer(level) // one for all: tables of another filter must not show
		for _, c := range cases {
			p := Preprocessing{Resize: c.Resize, Square: c.Square, Filter: c.Filter, Crop: c.Crop}
			canvas := make([]uint8, 3*c.Crop*c.Crop)
			expect.OK(t, resizer.Prepare(canvas, detailed(c.Width, c.Height), &p))
			if !bytes.Equal(canvas, c.Pixels) {
				t.Errorf("%s: %d×%d, %+v: other pixels than Pillow's", level, c.Width, c.Height, p)
			}
		}
	}
}

// torchvisions prepares pictures of raw RGB as plans say, and writes the pixels in their place: resized by Pillow along
// x and then along y, to the size that torchvision finds, and by torchvision, for which Pillow 13 may go the other way.
const torchvisions = `
import json, sys
from PIL import Image
from torchvision.transforms import CenterCrop, InterpolationMode, Resize
modes = {"antialias": InterpolationMode.BILINEAR, "bicubic": InterpolationMode.BICUBIC}
for plan in json.load(open(sys.argv[1])):
    picture = Image.frombytes("RGB", plan["size"], open(plan["file"], "rb").read())
    to = [plan["resize"]] * 2 if plan["square"] else plan["resize"]
    whole, crop = Resize(to, modes[plan["filter"]])(picture), CenterCrop(plan["crop"])
    mode = {"antialias": Image.Resampling.BILINEAR, "bicubic": Image.Resampling.BICUBIC}[plan["filter"]]
    steps = picture.resize((whole.width, picture.height), mode).resize(whole.size, mode)
    open(plan["file"], "wb").write(crop(steps).tobytes() + crop(whole).tobytes())
`

func TestPrepare_PixelsAreTorchvisions(t *testing.T) {
	python := pythonWith(t, "torchvision, PIL")
	square := TorchvisionPreprocessing()
	square.Square = true
	resizer := NewResizer(simd.Levels()[len(simd.Levels())-1])
	for i, s := range [][2]int{{640, 480}, {427, 640}, {256, 300}, {97, 61}, {225, 224}, {1023, 333}, {2016, 1512}} {
		for _, p := range []Preprocessing{TorchvisionPreprocessing(), DINOv2Preprocessing(),
			DINOv2Preprocessing().At(518), CLIPPreprocessing(), square} {
			pic, canvas := randomPicture(uint64(i), s[0], s[1]), make([]uint8, 3*p.Crop*p.Crop)
			expect.OK(t, resizer.Prepare(canvas, pic, &p))
			python.add(t, pic, canvas, map[string]any{"resize": p.Resize, "square": p.Square, "filter": p.Filter,
				"crop": p.Crop})
		}
	}
	python.compare(t, torchvisions, 2) // rounded in another order, and enlarged by the curve
}

func TestPrepare_RefusesWhatDoesNotFit(t *testing.T) {
	p, resizer := TorchvisionPreprocessing(), NewResizer(simd.Generic)
	canvas := make([]uint8, 3*224*224)
	if err := resizer.Prepare(canvas[1:], randomPicture(1, 9, 9), &p); err == nil {
		t.Error("a canvas of another size is taken")
	}
	if err := resizer.Prepare(canvas, &Picture{Width: 3, Height: 3}, &p); err == nil {
		t.Error("a picture without pixels is taken")
	}
	if err := resizer.Prepare(canvas, randomPicture(1, 1, 1000), &p); err == nil ||
		!strings.Contains(err.Error(), "thin") {
		t.Errorf("a line is made a picture of 256000 rows: %v", err)
	}
}

func TestPreprocessing_AtAnotherSize(t *testing.T) {
	for _, c := range []struct {
		p            Preprocessing
		size, resize int
	}{{TorchvisionPreprocessing(), 224, 256}, {TorchvisionPreprocessing(), 384, 438},
		{DINOv2Preprocessing(), 518, 592}} {
		if got := c.p.At(c.size); got.Resize != c.resize || got.Crop != c.size || got.Mean != c.p.Mean {
			t.Errorf("%v at %d: %+v", c.p, c.size, got)
		}
	}
}

func TestPreprocessing_Validate(t *testing.T) {
	good := []Preprocessing{TorchvisionPreprocessing(), DINOv2Preprocessing(), CLIPPreprocessing()}
	for _, p := range good {
		if err := p.Validate(); err != nil {
			t.Error(err)
		}
	}
	for name, change := range map[string]func(p *Preprocessing){
		"crop above the picture": func(p *Preprocessing) { p.Crop = 257 },
		"no crop":                func(p *Preprocessing) { p.Crop = 0 },
		"a giant":                func(p *Preprocessing) { p.Resize = 1 << 20 },
		"no deviation":           func(p *Preprocessing) { p.Deviation[1] = 0 },
		"a mean of NaN":          func(p *Preprocessing) { p.Mean[2] = float32(math.NaN()) },
		"filter":                 func(p *Preprocessing) { p.Filter = "lanczos" },
	} {
		p := good[0]
		change(&p)
		if p.Validate() == nil {
			t.Errorf("%s is accepted: %v", name, p)
		}
	}
	if got, want := good[1].String(), "shorter side to 256, bicubic, middle 224×224, mean [0.485 0.456 0.406], deviation "+
		"[0.229 0.224 0.225]"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func BenchmarkPrepare(b *testing.B) {
	for name, p := range map[string]Preprocessing{"bilinear": TorchvisionPreprocessing(),
		"bicubic": DINOv2Preprocessing()} {
		for _, level := range simd.Levels() {
			b.Run(fmt.Sprintf("%s/simd=%s", name, level), func(b *testing.B) {
				pic, canvas := randomPicture(1, 640, 480), make([]uint8, 3*p.Crop*p.Crop)
				resizer := NewResizer(level)
				b.ReportAllocs()
				for b.Loop() {
					expect.OK(b, resizer.Prepare(canvas, pic, &p))
				}
			})
		}
	}
}
