package scenes

import (
	"context"
	"fmt"
	"nmn/loader/picture"
	"sync"
	"sync/atomic"
)

// paintedSource paints pictures on demand: n bags of as many frames each.
type paintedSource struct {
	n, frames int
	paint     paintFunc
	painters  sync.Pool
	cache     []atomic.Pointer[[pictureBytes]uint8] // pixels of all frames; empty when pictures are not kept
}

// paintFunc paints a frame of a bag.
type paintFunc func(painter *painter, bag, frame int, pixels *[pictureBytes]uint8)

func newPaintedSource(n, frames int, keep bool, paint paintFunc) *paintedSource {
	s := &paintedSource{n: n, frames: frames, paint: paint}
	s.painters.New = func() any { return new(painter) }
	if keep {
		s.cache = make([]atomic.Pointer[[pictureBytes]uint8], n*frames)
	}
	return s
}

// Frames implements Source.
func (s *paintedSource) Frames(int) int { return s.frames }

// Read paints a frame, or copies it when it has been painted before and is kept.
func (s *paintedSource) Read(ctx context.Context, bag, frame int, pic *picture.Picture) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if bag < 0 || bag >= s.n || frame < 0 || frame >= s.frames {
		return fmt.Errorf("scenes: there is no frame %d of sample %d among %d samples with a frame count of %d",
			frame, bag, s.n, s.frames)
	}
	pic.Resize(pictureSize, pictureSize)
	if len(s.cache) == 0 {
		s.fill(bag, frame, (*[pictureBytes]uint8)(pic.Pix))
		return nil
	}
	at := &s.cache[bag*s.frames+frame]
	kept := at.Load()
	if kept == nil { // two readers may both paint it, and paint the same
		kept = new([pictureBytes]uint8)
		s.fill(bag, frame, kept)
		at.Store(kept)
	}
	copy(pic.Pix, kept[:])
	return nil
}

func (s *paintedSource) fill(bag, frame int, pixels *[pictureBytes]uint8) {
	painter := s.painters.Get().(*painter)
	s.paint(painter, bag, frame, pixels)
	s.painters.Put(painter)
}
