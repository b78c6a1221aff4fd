package picture

import (
	"bytes"
	"errors"
	"image/jpeg"
	"math"
	"slices"
	"strings"
	"testing"
)

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
