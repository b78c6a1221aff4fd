package augment

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"nmn/loader/picture"
)

// every has all augmentations of pictures on.
func every() Config {
	return Config{Crop: CropConfig{Area: Range{.08, 1}}, Jitter: JitterConfig{.4, .4, .4, .1}, Rand: RandConfig{3, 9},
		Erasing: ErasingConfig{Probability: 1, Value: FillNoise}}
}

// noisy is a canvas full of many colours.
func noisy(size int) []uint8 {
	canvas := make([]uint8, 3*size*size)
	for i := range canvas {
		canvas[i] = uint8(i*i*7 + i*13)
	}
	return canvas
}

// Pixels outside the picture stay 0, as kernels assume.
func TestCanvas_StaysWithinThePicture(t *testing.T) {
	const size, width, height = 20, 13, 9
	w := NewWorker(NewDraws(every(), 3), fill)
	for bag := range 50 {
		canvas := noisy(size)
		for y := range size {
			if y >= height {
				clear(canvas[3*size*y : 3*size*(y+1)])
			} else {
				clear(canvas[3*(size*y+width) : 3*size*(y+1)])
			}
		}
		w.Canvas(canvas, size, width, height, Place{1, bag, 0})
		for y := range size {
			from := 0
			if y < height {
				from = width
			}
			if row := canvas[3*(size*y+from) : 3*size*(y+1)]; slices.Max(row) > 0 {
				t.Fatalf("bag %d: row %d beyond the picture is %v", bag, y, row)
			}
		}
	}
}

// Small pictures are changed without a fault, down to one pixel.
func TestCanvas_OfFewPixels(t *testing.T) {
	c := every()
	c.Rand.Operations = 16
	w := NewWorker(NewDraws(c, 3), fill)
	for side := 1; side < 5; side++ {
		for bag := range 40 {
			var pic picture.Picture
			pic.Resize(side, 5-side)
			w.Crop(&pic, 1, bag)
			w.Canvas(noisy(5), 5, pic.Width, pic.Height, Place{1, bag, 0})
		}
	}
}

// The noise of an erased rectangle differs between frames, and is distributed around the mean colour.
func TestErase_Noise(t *testing.T) {
	c := Config{Erasing: ErasingConfig{Probability: 1, Area: Range{.5, .5}, Ratio: Range{1, 1}, Value: FillNoise}}
	d := NewDraws(c, 3)
	const size = 200
	blank := bytes.Repeat([]byte{7}, 3*size*size)
	one, two := bytes.Clone(blank), bytes.Clone(blank)
	w := NewWorker(d, [3]uint8{128, 128, 128})
	w.Canvas(one, size, size, size, Place{1, 4, 0})
	w.Canvas(two, size, size, size, Place{1, 4, 1})
	r, _ := d.Erase(1, 4, size, size)
	if bytes.Equal(one, two) {
		t.Error("two frames have the same noise")
	}
	sum, squares, n := 0., 0., 0.
	for y := range size {
		for x := range size {
			inside := x >= r.X && x < r.X+r.Width && y >= r.Y && y < r.Y+r.Height
			for _, v := range one[3*(size*y+x):][:3] {
				if !inside && v != 7 {
					t.Fatalf("pixel %d, %d beside %+v is %d", x, y, r, v)
				}
				if inside {
					sum, squares, n = sum+float64(v), squares+float64(v)*float64(v), n+1
				}
			}
		}
	}
	mean := sum / n
	near(t, "the mean of the noise", mean, 128, 1)
	near(t, "its deviation", math.Sqrt(squares/n-mean*mean), noiseDeviation, 2)
}

func TestErase_Mean(t *testing.T) {
	d := NewDraws(Config{Erasing: ErasingConfig{Probability: 1}}, 3)
	canvas := noisy(30)
	NewWorker(d, fill).Canvas(canvas, 30, 30, 30, Place{1, 4, 0})
	r, _ := d.Erase(1, 4, 30, 30)
	for y := r.Y; y < r.Y+r.Height; y++ {
		for x := r.X; x < r.X+r.Width; x++ {
			if got := [3]uint8(canvas[3*(30*y+x):]); got != fill {
				t.Fatalf("pixel %d, %d is %v", x, y, got)
			}
		}
	}
}

// The mixture of pictures with different extents equals the mixture of canvases filled with the mean colour.
func TestMix_OfOtherExtents(t *testing.T) {
	const size = 12
	framed := func(width, height int) Frame {
		f := Frame{noisy(size), size, width, height}
		for y := range size {
			for x := range size {
				if x >= width || y >= height {
					clear(f.Pixels[3*(size*y+x):][:3])
				}
			}
		}
		return f
	}
	at := func(f *Frame, x, y, c int) int {
		if x >= f.Width || y >= f.Height {
			return int(fill[c])
		}
		return int(f.Pixels[3*(size*y+x)+c])
	}
	for _, extents := range [][4]int{{12, 12, 12, 12}, {12, 5, 4, 12}, {3, 4, 12, 7}, {9, 9, 2, 2}, {1, 1, 12, 12}} {
		for _, mirrored := range []bool{false, true} {
			for _, weight := range []int{0, 1, 77, 128, 255, 256} {
				dst, from := framed(extents[0], extents[1]), framed(extents[2], extents[3])
				before := Frame{bytes.Clone(dst.Pixels), size, dst.Width, dst.Height}
				var scratch []uint8
				Mix(&dst, &from, weight, mirrored, fill, &scratch)
				if dst.Width != max(extents[0], extents[2]) || dst.Height != max(extents[1], extents[3]) {
					t.Fatalf("extent %d×%d", dst.Width, dst.Height)
				}
				for y := range size {
					for x := range size {
						for c := range 3 {
							other := x
							if mirrored && x < from.Width {
								other = from.Width - 1 - x
							}
							want := (weight*at(&before, x, y, c) + (Wholes-weight)*at(&from, other, y, c) + 128) / Wholes
							if x >= dst.Width || y >= dst.Height {
								want = 0
							}
							if got := int(dst.Pixels[3*(size*y+x)+c]); got != want {
								t.Fatalf("%v, weight %d, mirrored %t: (%d, %d) is %d, want %d", extents, weight, mirrored, x, y, got, want)
							}
						}
					}
				}
			}
		}
	}
}

func TestMixFloats_UnknownStays(t *testing.T) {
	got := []float32{1, 0, -1, 1}
	MixFloats(got, []float32{0, 1, 1, -1}, 64, -1)
	if !slices.Equal(got, []float32{.25, .75, -1, -1}) {
		t.Errorf("%v", got)
	}
	vectors := []float32{-1, 2}
	MixFloats(vectors, []float32{1, -1}, 128, float32(math.NaN()))
	if !slices.Equal(vectors, []float32{0, .5}) {
		t.Errorf("%v", vectors)
	}
}

func TestWorker_AllocatesNothingOnceItHasItsMemory(t *testing.T) {
	const size = 32
	w := NewWorker(NewDraws(every(), 3), fill)
	var pic picture.Picture
	pic.Resize(60, 50)
	canvas, line := noisy(size), []uint8(nil)
	from := Frame{noisy(size), size, size, size}
	bag := 0
	change := func() {
		bag++
		pic.Resize(60, 50)
		w.Crop(&pic, 1, bag)
		w.Canvas(canvas, size, size, size, Place{1, bag, 0})
		to := Frame{canvas, size, size, size}
		Mix(&to, &from, 100, true, fill, &line)
	}
	change()
	if n := testing.AllocsPerRun(100, change); n != 0 {
		t.Errorf("%v allocations for a picture", n)
	}
}

func TestConfig_ValidateAndString(t *testing.T) {
	for _, b := range Bundles() {
		if err := b.Config().Validate("train.augment"); err != nil {
			t.Errorf("%s: %v", b, err)
		}
	}
	nan := math.NaN()
	for key, c := range map[string]Config{
		"random_crop.area":           {Crop: CropConfig{Area: Range{.5, .1}}},
		"random_crop.ratio":          {Crop: CropConfig{Ratio: Range{1, 2}}},
		"color_jitter.brightness":    {Jitter: JitterConfig{Brightness: nan}},
		"color_jitter.contrast":      {Jitter: JitterConfig{Contrast: -1}},
		"color_jitter.saturation":    {Jitter: JitterConfig{Saturation: 11}},
		"color_jitter.hue":           {Jitter: JitterConfig{Hue: .6}},
		"rand_augment.operations":    {Rand: RandConfig{17, 9}},
		"rand_augment.magnitude":     {Rand: RandConfig{0, 9}},
		"random_erasing.probability": {Erasing: ErasingConfig{Area: Range{.1, .2}}},
		"random_erasing.area":        {Erasing: ErasingConfig{Probability: 1, Area: Range{.1, nan}}},
		"random_erasing.ratio":       {Erasing: ErasingConfig{Probability: 1, Ratio: Range{.001, 1}}},
		"random_erasing.value":       {Erasing: ErasingConfig{Probability: 1, Value: "zero"}},
		"mixup":                      {Mixup: math.Inf(1)},
	} {
		err := c.Validate("train.augment")
		if err == nil || !strings.Contains(err.Error(), "train.augment."+key+" ") {
			t.Errorf("%s: error %v", key, err)
		}
	}
	c := every()
	c.Mixup = .2
	const want = "random crop 0.08:1 of the area, ratio 0.75:1.3333, color jitter 0.4,0.4,0.4,0.1, RandAugment 3,9, " +
		"random erasing 1 by noise, mixup 0.2"
	if got := c.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := (Config{}).String(); got != "" {
		t.Errorf("nothing is %q", got)
	}
}

// BenchmarkOperations measures each operation on a picture of 224×224 pixels.
func BenchmarkOperations(b *testing.B) {
	const size = 224
	w := NewWorker(NewDraws(Config{Erasing: ErasingConfig{Probability: 1, Area: Range{.2, .2}, Value: FillNoise}}, 1),
		fill)
	canvas, other, line := noisy(size), noisy(size), []uint8(nil)
	v := view{canvas, 3 * size, size, size}
	measure := func(name string, change func()) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(3 * size * size)
			b.ReportAllocs()
			change()
			for b.Loop() {
				change()
			}
		})
	}
	for op := range Op(len(randOperations)) {
		step := Step{op, op.strength(9, false, size, size)}
		measure(op.String(), func() { w.apply(&v, step) })
	}
	copy(canvas, noisy(size))
	measure("Hue", func() { hue(&v, .05) })
	measure("Erase", func() { w.erase(v.part(Rect{20, 20, 100, 100}), Place{}) })
	measure("Mix", func() {
		to, from := Frame{canvas, size, size, size}, Frame{other, size, size, size}
		Mix(&to, &from, 100, false, fill, &line)
	})
	measure("MixMirrored", func() {
		to, from := Frame{canvas, size, size, size}, Frame{other, size, size, size}
		Mix(&to, &from, 100, true, fill, &line)
	})
}

// BenchmarkCut measures the crop of a picture of 640×480 pixels to a quarter.
func BenchmarkCut(b *testing.B) {
	var pic picture.Picture
	pic.Resize(640, 480)
	b.SetBytes(3 * 320 * 240)
	b.ReportAllocs()
	for b.Loop() {
		pic.Resize(640, 480)
		cut(&pic, Rect{100, 100, 320, 240})
	}
}
