package loader

import (
	"context"
	"errors"
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

// A clip is shown by its middle frame. Colours and places are tested in package picture.
func TestThumbnailer_TakesTheMiddleFrame(t *testing.T) {
	var maker Thumbnailer
	small, err := maker.Middle(t.Context(), halfRed{1500, 700}, 0)
	if err != nil || small.Width != picture.ThumbnailSize || small.Height != 149 {
		t.Errorf("%d×%d, %v", small.Width, small.Height, err)
	}
	if _, err := maker.Frame(t.Context(), halfRed{9, 9}, 0, 0); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a frame that cannot be read: %v", err)
	}
}
