package picture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/kernels/simd"
)

// smoothed resizes one axis by its definition, in float64: count lines of RGB of length from, whose pixels are step
// apart and whose lines begin next apart, to lines of length to, which begin outNext apart. Results are rounded, as
// both passes of the filter are.
func smoothed(source []float64, from, to, lines, step, next, outNext int) []float64 {
	result := make([]float64, len(source)/from*to)
	scale := float64(from) / float64(to)
	width := max(scale, 1)
	for i := range to {
		weights, sum := make([]float64, from), 0.0
		for x := range weights {
			weights[x] = max(0, 1-math.Abs(float64(x)+.5-(float64(i)+.5)*scale)/width)
			sum += weights[x]
		}
		for line := range lines {
			first, end := max(0, int((float64(i)+.5)*scale-width)-1), min(from, int((float64(i)+.5)*scale+width)+2)
			for c := range 3 {
				value := 0.0
				for x := first; x < end; x++ { // beyond, weights are 0
					value += weights[x] / sum * source[line*next+x*step+c]
				}
				result[line*outNext+i*step+c] = math.Floor(value + .5)
			}
		}
	}
	return result
}

// referenceAntialias is a triangle filter along x, then along y.
func referenceAntialias(pic *Picture, width, height int) []float64 {
	source := make([]float64, len(pic.Pix))
	for i, v := range pic.Pix {
		source[i] = float64(v)
	}
	across := smoothed(source, pic.Width, width, pic.Height, 3, 3*pic.Width, 3*width)
	return smoothed(across, pic.Height, height, width, 3*width, 3, 3)
}

var antialiasSizes = [][2]int{{61, 61}, {640, 427}, {427, 640}, {1, 1}, {1, 300}, {300, 1}, {60, 61}, {62, 30},
	{122, 122}, {2, 3}, {7, 500}, {61, 60}, {640, 427}}

func TestAntialias_AgreesWithReference(t *testing.T) {
	for _, level := range simd.Levels() {
		t.Run("simd="+level.String(), func(t *testing.T) {
			resizer := NewResizer(level) // one resizer for all, to show leftovers of another size
			resizer.Filter = FilterAntialias
			canvas := make([]uint8, 61*61*3)
			for i, s := range antialiasSizes {
				for _, fit := range []Fit{FitLongest, FitSquare} {
					pic := randomPicture(uint64(i), s[0], s[1])
					width, height, err := resizer.Place(canvas, 61, pic, fit)
					expect.OK(t, err)
					want := referenceAntialias(pic, width, height)
					other := 0
					for y := range 61 {
						for at := range 3 * 61 {
							got := float64(canvas[3*61*y+at])
							if y >= height || at >= 3*width {
								if got != 0 {
									t.Fatalf("%v: byte %d of row %d is %v beyond %d×%d", s, at, y, got, width, height)
								}
								continue
							}
							off := math.Abs(got - want[3*width*y+at])
							if off > 1 {
								t.Fatalf("%v: byte %d of row %d is %v, want %v", s, at, y, got, want[3*width*y+at])
							}
							other += int(off)
						}
					}
					if other > 3*width*height/40 { // halves, which the precision of weights decides
						t.Errorf("%v %s: %d of %d differ by one", s, fit, other, 3*width*height)
					}
				}
			}
		})
	}
}

// A shift by one pixel hardly changes what a picture of fine stripes looks like when it is small.
func TestAntialias_StripesBecomeGrey(t *testing.T) {
	pic := randomPicture(1, 640, 480)
	for i := range pic.Pix {
		pic.Pix[i] = uint8(i / 3 % 640 % 2 * 255)
	}
	resizer, canvas := NewResizer(simd.Generic), make([]uint8, 3*64*64)
	resizer.Filter = FilterAntialias
	if _, _, err := resizer.Place(canvas, 64, pic, FitSquare); err != nil {
		t.Fatal(err)
	}
	for i, v := range canvas {
		if v < 120 || v > 135 {
			t.Fatalf("byte %d is %d", i, v)
		}
	}
}

// A side beyond what tables are made for gets the other filter, and no memory for weights.
func TestAntialias_EndlessPictures(t *testing.T) {
	pic := randomPicture(1, simd.MaxReduction+1, 1)
	resizer, plain := NewResizer(simd.Generic), NewResizer(simd.Generic)
	resizer.Filter = FilterAntialias
	got, want := make([]uint8, 3*9*9), make([]uint8, 3*9*9)
	_, _, err := resizer.Place(got, 9, pic, FitSquare)
	if _, _, err2 := plain.Place(want, 9, pic, FitSquare); err != nil || err2 != nil || !bytes.Equal(got, want) {
		t.Error(err, err2, got)
	}
}

func TestFilter_Validate(t *testing.T) {
	for _, f := range append(Filters(), "") {
		if err := f.Validate(); err != nil {
			t.Error(err)
		}
	}
	if err := Filter("lanczos").Validate(); err == nil || !strings.Contains(err.Error(), "antialias") {
		t.Error(err)
	}
}

// pillow resizes pictures of raw RGB by a plan of files and sizes. It resizes along x and then along y, and
// also in one call, which from Pillow 13 on uses the other order if a picture loses much more of its height.
const pillow = `
import json, sys
from PIL import Image
for plan in json.load(open(sys.argv[1])):
    picture = Image.frombytes("RGB", plan["size"], open(plan["file"], "rb").read())
    (width, height), bilinear = plan["to"], Image.Resampling.BILINEAR
    across = picture.resize((width, picture.height), bilinear)
    with open(plan["file"], "wb") as to:
        to.write(across.resize((width, height), bilinear).tobytes())
        to.write(picture.resize((width, height), bilinear).tobytes())
`

func TestAntialias_PixelsArePillows(t *testing.T) {
	python := pythonWith(t, "PIL")
	for i, s := range append(antialiasSizes, [2]int{640, 480}, [2]int{4032, 3024}) {
		for _, fit := range []Fit{FitLongest, FitSquare} {
			for _, size := range []int{61, 224} {
				pic, canvas := randomPicture(uint64(i), s[0], s[1]), make([]uint8, 3*size*size)
				resizer := NewResizer(simd.Levels()[len(simd.Levels())-1])
				resizer.Filter = FilterAntialias
				width, height, err := resizer.Place(canvas, size, pic, fit)
				expect.OK(t, err)
				var rows []uint8
				for y := range height {
					rows = append(rows, canvas[3*size*y:3*(size*y+width)]...)
				}
				python.add(t, pic, rows, map[string]any{"to": [2]int{width, height}})
			}
		}
	}
	python.compare(t, pillow, 1)
}

// pythonPixels compares pictures with those that a script of Python makes of the same pixels.
type pythonPixels struct {
	python string
	dir    string
	plan   []map[string]any
	wants  [][]uint8
}

// pythonWith finds a Python that has modules, or skips the test.
func pythonWith(t *testing.T, modules string) *pythonPixels {
	t.Helper()
	p := &pythonPixels{python: os.Getenv("NMN_PYTHON"), dir: t.TempDir()}
	if p.python == "" {
		t.Skipf("NMN_PYTHON names no Python with %s", modules)
	}
	if output, err := exec.CommandContext(t.Context(), p.python, "-c", "import "+modules).CombinedOutput(); err != nil {
		t.Skipf("%s: %v, %s", p.python, err, output)
	}
	return p
}

// add plans a picture, whose result is to be want. The script finds size and file of the pixels in its plan.
func (p *pythonPixels) add(t *testing.T, pic *Picture, want []uint8, plan map[string]any) {
	t.Helper()
	plan["file"], plan["size"] = filepath.Join(p.dir, fmt.Sprint(len(p.plan))), [2]int{pic.Width, pic.Height}
	expect.OK(t, os.WriteFile(plan["file"].(string), pic.Pix, 0o644))
	p.plan, p.wants = append(p.plan, plan), append(p.wants, want)
}

// compare runs the script, which writes two results into each file: one that must be equal, and another one that may
// differ by most.
func (p *pythonPixels) compare(t *testing.T, script string, most int) {
	t.Helper()
	text, err := json.Marshal(p.plan)
	expect.OK(t, err)
	file := filepath.Join(p.dir, "plan")
	expect.OK(t, os.WriteFile(file, text, 0o644))
	if output, err := exec.CommandContext(t.Context(), p.python, "-c", script, file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for i, want := range p.wants {
		got, err := os.ReadFile(p.plan[i]["file"].(string))
		if err != nil || len(got) != 2*len(want) || !bytes.Equal(got[:len(want)], want) {
			t.Errorf("%v: other pixels than in Python, %v", p.plan[i], err)
			continue
		}
		for j, v := range got[len(want):] {
			if off := int(v) - int(want[j]); off < -most || off > most {
				t.Fatalf("%v: byte %d is %d, in Python %d", p.plan[i], j, want[j], v)
			}
		}
	}
}
