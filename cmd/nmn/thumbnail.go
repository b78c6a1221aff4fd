package main

import (
	"bytes"
	"context"
	"image"
	"image/jpeg"

	"nmn/loader"
)

// thumbnailSize is the longest side of a picture on a page, in pixels.
const thumbnailSize = 320

// thumbnailer makes a small JPEG of a picture.
type thumbnailer struct {
	picture loader.Picture
	resizer loader.Resizer
	canvas  []uint8
}

// middle is the middle frame of a bag; nil where it cannot be read, for a page is worth having without.
func (t *thumbnailer) middle(ctx context.Context, source loader.Source, bag int) []byte {
	if source.Read(ctx, bag, source.Frames(bag)/2, &t.picture) != nil {
		return nil
	}
	small, err := t.shrink()
	if err != nil {
		return nil
	}
	return small
}

// shrink makes a JPEG of the picture that was read.
func (t *thumbnailer) shrink() ([]byte, error) {
	for min(t.picture.Width, t.picture.Height) > 1 && max(t.picture.Width, t.picture.Height) >= 2*thumbnailSize {
		halve(&t.picture)
	}
	if t.canvas == nil {
		t.canvas = make([]uint8, 3*thumbnailSize*thumbnailSize)
	}
	width, height, err := t.resizer.Place(t.canvas, thumbnailSize, &t.picture, loader.FitLongest)
	if err != nil {
		return nil, err
	}
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			to, from := img.Pix[y*img.Stride+4*x:], t.canvas[3*(y*thumbnailSize+x):]
			to[0], to[1], to[2], to[3] = from[0], from[1], from[2], 255
		}
	}
	var b bytes.Buffer
	err = jpeg.Encode(&b, img, &jpeg.Options{Quality: 78})
	return b.Bytes(), err
}

// halve averages 2×2 pixels in place: the resizer does not smooth what it shrinks.
func halve(p *loader.Picture) {
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
