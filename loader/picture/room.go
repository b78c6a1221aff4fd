package picture

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// Room is the memory that the decoders of several workers share: small pictures are decoded at the same time, and a
// large one waits until there is room for it. One that is larger than the whole room is decoded alone. No pixel depends
// on it. A Room is safe for concurrent use.
type Room struct {
	shared *semaphore.Weighted
	most   int64 // bytes that are shared
	own    int64 // bytes that each worker may take without asking, and keeps from one picture to the next
}

// NewRoom makes a room of the given number of bytes; half of them is divided among the workers.
func NewRoom(bytes int64, workers int) *Room {
	half := max(bytes/2, 1)
	return &Room{semaphore.NewWeighted(half), half, half / int64(max(workers, 1))}
}

// Bytes of a decoder for each pixel, at most: the pixels of the picture, and the planes and coefficients, or the image,
// that they are made from.
const (
	ownJPEGBytes = 3 + 3*(1+2)
	stdJPEGBytes = 3 + 4*(1+4) + 4 // four inks of a progressive file, and their image
	pngBytes     = 3 + 2*8         // interlaced, four channels of 16 bits
	gifBytes     = 3 + 1
	webpBytes    = 3 + 2*4 + 1 // the colours of a lossless file twice, and transparency
	bmpBytes     = 3 + 4
	tiffBytes    = 3 + 2*8 // four channels of 16 bits, and a strip of them that may be the whole picture
	turnBytes    = 3
)

// take first returns the memory of an earlier picture, then waits until there is room for this one.
func (p *Picture) take(width, height, bytesPerPixel int) {
	p.Release()
	if p.Room == nil {
		return
	}
	if bytes := int64(width) * int64(height) * int64(bytesPerPixel); bytes > p.Room.own {
		bytes = min(bytes, p.Room.most)
		_ = p.Room.shared.Acquire(context.Background(), bytes) // others give it back: they wait for nothing
		p.taken = bytes
	}
}

// Release gives room back, and the memory of a picture that has taken some: its pixels are gone then. It is called when
// a picture is no longer needed, and may be called more than once.
func (p *Picture) Release() {
	if p.taken == 0 {
		return
	}
	p.Pix, p.turned, p.jpeg = nil, nil, nil
	p.Width, p.Height = 0, 0
	p.Room.shared.Release(p.taken)
	p.taken = 0
}
