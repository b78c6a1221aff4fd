package picture

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"image/jpeg"
	"math"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/kernels/simd"
)

// referenceResize is bilinear interpolation in float64, pixel by pixel as it is defined.
func referenceResize(pic *Picture, width, height int) []float64 {
	result := make([]float64, width*height*3)
	tap := func(i, from, to int) (int, int, float64) {
		at := math.Max(0, (float64(i)+.5)*float64(from)/float64(to)-.5)
		first := int(math.Floor(at))
		return first, min(first+1, from-1), at - float64(first)
	}
	for y := range height {
		y0, y1, fy := tap(y, pic.Height, height)
		for x := range width {
			x0, x1, fx := tap(x, pic.Width, width)
			for c := range 3 {
				at := func(row, column int) float64 { return float64(pic.Pix[3*(row*pic.Width+column)+c]) }
				result[3*(y*width+x)+c] = (1-fy)*((1-fx)*at(y0, x0)+fx*at(y0, x1)) + fy*((1-fx)*at(y1, x0)+fx*at(y1, x1))
			}
		}
	}
	return result
}

func randomPicture(seed uint64, width, height int) *Picture {
	pic := new(Picture)
	pic.Resize(width, height)
	s := rng.New(seed)
	for i := range pic.Pix {
		pic.Pix[i] = uint8(s.Uint32())
	}
	return pic
}

// checkPlaced compares a canvas with the reference and checks that the rest of it is zero.
func checkPlaced(t *testing.T, canvas []uint8, size int, pic *Picture, width, height int) {
	t.Helper()
	want := referenceResize(pic, width, height)
	for y := range size {
		for x := range size {
			for c := range 3 {
				got := float64(canvas[3*(y*size+x)+c])
				if y >= height || x >= width {
					if got != 0 {
						t.Fatalf("(%d,%d) outside of %d×%d is %v", x, y, width, height, got)
					}
				} else if exact := want[3*(y*width+x)+c]; !(math.Abs(got-exact) <= .52) {
					t.Fatalf("%d×%d to %d×%d: (%d,%d) channel %d is %v, exact %.4f",
						pic.Width, pic.Height, width, height, x, y, c, got, exact)
				}
			}
		}
	}
}

func TestResize_AgreesWithReference(t *testing.T) {
	for _, level := range simd.Levels() {
		t.Run("simd="+level.String(), func(t *testing.T) { agreesWithReference(t, NewResizer(level)) })
	}
}

// agreesWithReference takes one Resizer for all: tables and rows of another size must not show.
func agreesWithReference(t *testing.T, resizer *Resizer) {
	canvas := make([]uint8, 61*61*3)
	for i, s := range antialiasSizes {
		for _, fit := range []Fit{FitLongest, FitSquare} {
			pic := randomPicture(uint64(i), s[0], s[1])
			for j := range canvas {
				canvas[j] = 77
			}
			width, height, err := resizer.Place(canvas, 61, pic, fit)
			expect.OK(t, err)
			if max(width, height) != 61 || fit == FitSquare && min(width, height) != 61 {
				t.Errorf("%d×%d fits %s to %d×%d", s[0], s[1], fit, width, height)
			}
			checkPlaced(t, canvas, 61, pic, width, height)
		}
	}
}

// The sums were taken from a Resizer without vector instructions: pictures stay what they were, at every
// level.
func TestResize_IsTheSameAtEveryLevel(t *testing.T) {
	for filter, want := range map[Filter]uint64{FilterBilinear: 0xf5850167bac77f33, FilterAntialias: 0xe22219bea7fc9be} {
		for _, level := range simd.Levels() {
			sum := fnv.New64a()
			resizer, canvas := NewResizer(level), make([]uint8, 113*113*3)
			resizer.Filter = filter
			for i, s := range [][2]int{{640, 427}, {333, 500}, {113, 112}, {64, 48}, {3, 2}, {1, 7}} {
				for _, fit := range []Fit{FitLongest, FitSquare} {
					if _, _, err := resizer.Place(canvas, 113, randomPicture(uint64(i), s[0], s[1]), fit); err != nil {
						t.Fatal(err)
					}
					sum.Write(canvas)
				}
			}
			if got := sum.Sum64(); got != want {
				t.Errorf("%s at %s: %#x, want %#x", filter, level, got, want)
			}
		}
	}
}

// Halves go to the even side, as Python rounds: 5·(5/10) = 2.5 > 2, 7·.5 = 3.5 > 4.
func TestResize_Extent(t *testing.T) {
	for _, c := range []struct{ width, height, size, wantWidth, wantHeight int }{
		{640, 480, 565, 565, 424}, {480, 640, 565, 424, 565}, {640, 427, 565, 565, 377},
		{10, 5, 5, 5, 2}, {10, 7, 5, 5, 4}, {1000, 1, 10, 10, 1}, {1, 1000, 10, 1, 10}, {500, 375, 565, 565, 424},
	} {
		w, h, err := FitLongest.extent(c.width, c.height, c.size)
		if err != nil || w != c.wantWidth || h != c.wantHeight {
			t.Errorf("%d×%d on %d: %d×%d, %v; want %d×%d", c.width, c.height, c.size, w, h, err, c.wantWidth, c.wantHeight)
		}
	}
}

// Values of torch.nn.functional.interpolate, worked out by hand: 2 > 4 pixels are at -.25 (held at 0),
// .25, .75 and 1.25 (held at 1).
func TestResize_HalfPixelCentres(t *testing.T) {
	pic := &Picture{Width: 2, Height: 2, Pix: []uint8{0, 0, 0, 100, 100, 100, 0, 0, 0, 100, 100, 100}}
	canvas := make([]uint8, 4*4*3)
	if _, _, err := new(Resizer).Place(canvas, 4, pic, FitLongest); err != nil {
		t.Fatal(err)
	}
	for x, want := range []uint8{0, 25, 75, 100} {
		if got := canvas[3*(4+x)]; got != want {
			t.Errorf("column %d is %d, want %d", x, got, want)
		}
	}
}

func TestResize_Refuses(t *testing.T) {
	canvas := make([]uint8, 8*8*3)
	for name, try := range map[string]func() error{
		"other size with none": func() error {
			_, _, err := new(Resizer).Place(canvas, 8, randomPicture(1, 8, 7), FitNone)
			return err
		},
		"short canvas": func() error {
			_, _, err := new(Resizer).Place(canvas[1:], 8, randomPicture(1, 8, 8), FitNone)
			return err
		},
		"picture without pixels": func() error {
			_, _, err := new(Resizer).Place(canvas, 8, &Picture{Width: 3, Height: 0}, FitSquare)
			return err
		},
		"unknown fit": func() error { return Fit("cover").Validate() },
	} {
		if try() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzResize(f *testing.F) {
	f.Add(uint16(5), uint16(9), uint16(4), true, uint64(1))
	f.Add(uint16(1), uint16(200), uint16(65), false, uint64(2))
	f.Fuzz(func(t *testing.T, width, height, size uint16, square bool, seed uint64) {
		w, h, s := int(width%200)+1, int(height%200)+1, int(size%80)+1
		fit := FitLongest
		if square {
			fit = FitSquare
		}
		pic, canvas := randomPicture(seed, w, h), make([]uint8, s*s*3)
		for _, level := range simd.Levels() {
			placedWidth, placedHeight, err := NewResizer(level).Place(canvas, s, pic, fit)
			expect.OK(t, err)
			checkPlaced(t, canvas, s, pic, placedWidth, placedHeight)
		}
	})
}

func BenchmarkResize(b *testing.B) {
	for _, c := range []struct {
		size   int
		fit    Fit
		filter Filter
	}{{565, FitLongest, FilterBilinear}, {224, FitSquare, FilterBilinear}, {565, FitLongest, FilterAntialias},
		{224, FitSquare, FilterAntialias}} {
		for _, level := range simd.Levels() {
			b.Run(fmt.Sprintf("filter=%s/to=%d/simd=%s", c.filter, c.size, level), func(b *testing.B) {
				pic, canvas := randomPicture(1, 640, 480), make([]uint8, c.size*c.size*3)
				resizer := NewResizer(level)
				resizer.Filter = c.filter
				b.ReportAllocs()
				for b.Loop() {
					if _, _, err := resizer.Place(canvas, c.size, pic, c.fit); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// halves is red on its left half and blue on its right one.
func halves(width, height int) *Picture {
	p := &Picture{Width: width, Height: height}
	for range height {
		for x := range width {
			if x < width/2 {
				p.Pix = append(p.Pix, 240, 10, 10)
			} else {
				p.Pix = append(p.Pix, 10, 10, 240)
			}
		}
	}
	return p
}

// A thumbnail has the shape and the colours of its picture, in their places.
func TestThumbnail_KeepsShapeAndColours(t *testing.T) {
	for _, c := range []struct{ width, height, toWidth, toHeight int }{
		{1280, 640, 320, 160}, {639, 300, 320, 150}, {640, 640, 320, 320}, {300, 900, 107, 320}, {161, 80, 320, 159},
		{40, 20, 80, 40},
	} {
		small, err := halves(c.width, c.height).Thumbnail()
		if err != nil || small.Width != c.toWidth || small.Height != c.toHeight {
			t.Errorf("%d×%d becomes %d×%d, %v; want %d×%d", c.width, c.height, small.Width, small.Height, err,
				c.toWidth, c.toHeight)
			continue
		}
		img, err := jpeg.Decode(bytes.NewReader(small.JPEG))
		if err != nil || img.Bounds().Dx() != c.toWidth || img.Bounds().Dy() != c.toHeight {
			t.Errorf("%d×%d: %v", c.width, c.height, err)
			continue
		}
		for _, y := range []int{1, c.toHeight - 2} {
			for x, want := range map[int][3]float64{c.toWidth / 4: {240, 10, 10}, 3 * c.toWidth / 4: {10, 10, 240}} {
				r, g, b, _ := img.At(x, y).RGBA()
				for i, v := range []uint32{r, g, b} {
					if math.Abs(float64(v>>8)-want[i]) > 12 {
						t.Errorf("%d×%d: pixel %d, %d is %d %d %d, want %v", c.width, c.height, x, y, r>>8, g>>8, b>>8, want)
						break
					}
				}
			}
		}
	}
	if small, err := halves(2, 4000).Thumbnail(); err != nil || small.Width != 1 || small.Height != 320 {
		t.Errorf("a line becomes %d×%d, %v", small.Width, small.Height, err)
	}
}

func TestHalve_AveragesFourPixels(t *testing.T) {
	p := &Picture{Width: 5, Height: 3, Pix: []uint8{ // the last column and the last row are left over
		0, 1, 2, 10, 11, 12, 20, 100, 255, 30, 100, 255, 99, 99, 99,
		4, 5, 6, 15, 16, 17, 40, 100, 255, 51, 100, 255, 99, 99, 99,
		99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99}}
	halve(p)
	if want := []uint8{7, 8, 9, 35, 100, 255}; p.Width != 2 || p.Height != 1 || !slices.Equal(p.Pix, want) {
		t.Errorf("%d×%d: %d, want %d", p.Width, p.Height, p.Pix, want)
	}
}

// The least size of a PNG by its header: depth and channels count, and a file without a header has no pixel.
func TestPNGLeastBytes_ByDepthAndChannels(t *testing.T) {
	const pixels = 8 * 1032
	for _, c := range []struct {
		depth, kind byte
		want        int64
	}{{8, 0, 8}, {8, 3, 8}, {8, 4, 16}, {8, 2, 24}, {8, 6, 32}, {16, 6, 64}, {1, 0, 1}} {
		header := make([]byte, 26)
		header[24], header[25] = c.depth, c.kind
		if got := pngLeastBytes(header, pixels); got != c.want {
			t.Errorf("depth %d, kind %d: %d bytes, want %d", c.depth, c.kind, got, c.want)
		}
	}
	for _, n := range []int{8, 24, 25} {
		if got := pngLeastBytes(make([]byte, n), 1); got != 26 {
			t.Errorf("%d bytes: at least %d, want 26", n, got)
		}
	}
}

// Nothing that a decoder does ends the program: here it has no picture to decode into.
func TestDecode_AFaultCostsOnePicture(t *testing.T) {
	for name, data := range map[string][]byte{"PNG": encodePNG(t, smooth(8, 8)), "JPEG": encodedJPEG(t, smooth(8, 8))} {
		if err := Decode(data, nil); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "decoder failed") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
