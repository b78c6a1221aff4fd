package loader

import (
	"bytes"
	"context"
	"errors"
	"image/jpeg"
	"math"
	"nmn/loader/picture"
	"testing"
)

// halfRed are pictures whose left half is red and whose right half is blue; frame 1 is the first in the
// middle.
type halfRed struct{ width, height int }

func (h halfRed) Frames(int) int { return 2 }

func (h halfRed) Read(_ context.Context, _, frame int, p *picture.Picture) error {
	if frame != 1 {
		return ErrCorrupt
	}
	p.Width, p.Height, p.Pix = h.width, h.height, make([]uint8, 3*h.width*h.height)
	for i := range h.width * h.height {
		p.Pix[3*i+2*min(1, i%h.width*2/h.width)] = 255
	}
	return nil
}

// The longer side is the same for all pictures but small ones, and what was left stays left.
func TestThumbnailer_KeepsProportionsAndColours(t *testing.T) {
	var maker Thumbnailer
	for _, size := range [][2]int{{1500, 700}, {1281, 3}, {101, 640}, {20, 10}} {
		small, err := maker.Middle(t.Context(), halfRed{size[0], size[1]}, 0)
		check(t, err)
		img, err := jpeg.Decode(bytes.NewReader(small.JPEG))
		check(t, err)
		side := min(picture.ThumbnailSize, 2*max(size[0], size[1]))
		if width, height := img.Bounds().Dx(), img.Bounds().Dy(); max(width, height) != side ||
			width != small.Width || height != small.Height {
			t.Errorf("%v becomes %d×%d, said to be %d×%d", size, width, height, small.Width, small.Height)
		}
		if want := float64(side*size[1]) / float64(size[0]); size[0] > size[1] &&
			math.Abs(float64(small.Height)-want) > 2 {
			t.Errorf("%v becomes %d×%d", size, small.Width, small.Height)
		}
		for x, red := range map[int]bool{small.Width / 4: true, 3 * small.Width / 4: false} {
			if r, _, b, _ := img.At(x, small.Height/2).RGBA(); r > b != red {
				t.Errorf("%v: at %d of %d is red %d, blue %d", size, x, small.Width, r>>8, b>>8)
			}
		}
	}
	if _, err := maker.Frame(t.Context(), halfRed{9, 9}, 0, 0); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a frame that cannot be read: %v", err)
	}
}
