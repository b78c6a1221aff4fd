package loader

import (
	"bytes"
	"context"
	"image"
	"image/jpeg"
)

// ThumbnailSize is the longer side of a small picture, in pixels.
const ThumbnailSize = 320

// thumbnailQuality is that of its JPEG: about 10 kB.
const thumbnailQuality = 78

// Thumbnail is a small picture as JPEG.
type Thumbnail struct {
	Width, Height int
	JPEG          []byte
}

// Thumbnailer makes small pictures. It keeps its memory from one to the next, and is for one goroutine.
type Thumbnailer struct {
	picture Picture
	resizer Resizer
	canvas  []uint8
}

// Middle is that of the middle frame of a bag.
func (t *Thumbnailer) Middle(ctx context.Context, s Source, bag int) (Thumbnail, error) {
	return t.Frame(ctx, s, bag, s.Frames(bag)/2)
}

// Frame is that of a frame; errors are those of its source.
func (t *Thumbnailer) Frame(ctx context.Context, s Source, bag, frame int) (Thumbnail, error) {
	if err := s.Read(ctx, bag, frame, &t.picture); err != nil {
		return Thumbnail{}, err
	}
	return t.shrink()
}

// shrink makes that of the picture that was read.
func (t *Thumbnailer) shrink() (Thumbnail, error) {
	for min(t.picture.Width, t.picture.Height) > 1 && max(t.picture.Width, t.picture.Height) >= 2*ThumbnailSize {
		halve(&t.picture)
	}
	if t.canvas == nil {
		t.canvas = make([]uint8, 3*ThumbnailSize*ThumbnailSize)
	}
	width, height, err := t.resizer.Place(t.canvas, ThumbnailSize, &t.picture, FitLongest)
	if err != nil {
		return Thumbnail{}, err
	}
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			to, from := img.Pix[y*img.Stride+4*x:], t.canvas[3*(y*ThumbnailSize+x):]
			to[0], to[1], to[2], to[3] = from[0], from[1], from[2], 255
		}
	}
	var b bytes.Buffer
	err = jpeg.Encode(&b, img, &jpeg.Options{Quality: thumbnailQuality})
	return Thumbnail{width, height, b.Bytes()}, err
}

// halve averages 2×2 pixels in place: the resizer does not smooth what it shrinks.
func halve(p *Picture) {
	width, height := p.Width/2, p.Height/2
	for y := range height {
		for i := range 3 * width {
			above := 3*2*y*p.Width + i/3*6 + i%3
			below := above + 3*p.Width
			sum := int(p.Pix[above]) + int(p.Pix[above+3]) + int(p.Pix[below]) + int(p.Pix[below+3])
			p.Pix[3*y*width+i] = uint8((sum + 2) / 4)
		}
	}
	p.Width, p.Height, p.Pix = width, height, p.Pix[:3*width*height]
}
