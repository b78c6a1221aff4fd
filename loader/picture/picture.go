package picture

import (
	"bytes"
	"errors"
	"image"
	std "image/jpeg"

	"nmn/kernels/simd"
	"nmn/loader/picture/jpeg"
)

// ErrCorrupt marks a picture that cannot be used: its file is not a picture, cut short, damaged or beyond
// the limits.
var ErrCorrupt = errors.New("picture cannot be used")

// Picture is a decoded picture: 8-bit RGB, interleaved, rows top to bottom without padding. len(Pix) ==
// Width*Height*3. A decoder reuses the buffer if it is large enough.
type Picture struct {
	Width, Height int
	Pix           []uint8
	Level         simd.Level  // instruction set for conversion; no pixel depends on it
	Orientation   Orientation // handling of the file's orientation; the zero value is OrientationIgnore
	MaxPixels     int         // larger pictures are not decoded; 0 is DefaultMaxPixels
	Room          *Room       // that decoders share; nil for no bound. Release gives back what a picture takes of it

	jpeg   *jpeg.Decoder // made when it is first needed; it keeps its memory
	turned []uint8       // memory to turn pictures in
	taken  int64         // bytes of Room
}

// Resize sets the size, keeping the buffer if it is large enough. Pixels are not cleared.
func (p *Picture) Resize(width, height int) {
	n := width * height * 3
	if cap(p.Pix) < n {
		p.Pix = make([]uint8, n)
	}
	p.Width, p.Height, p.Pix = width, height, p.Pix[:n]
}

// EncodeJPEG makes a JPEG file of the picture; quality is 1 to 100.
func (p *Picture) EncodeJPEG(quality int) ([]byte, error) {
	return encodeJPEG(p.Pix, p.Width, p.Width, p.Height, quality)
}

// encodeJPEG makes a JPEG file of the top left corner of RGB pixels that have stride pixels in a row.
func encodeJPEG(pixels []uint8, stride, width, height, quality int) ([]byte, error) {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			to, from := img.Pix[y*img.Stride+4*x:], pixels[3*(y*stride+x):]
			to[0], to[1], to[2], to[3] = from[0], from[1], from[2], 255
		}
	}
	var data bytes.Buffer
	err := std.Encode(&data, img, &std.Options{Quality: quality})
	return data.Bytes(), err
}

// Bounds on one picture.
const (
	DefaultMaxPixels       = 100_000_000 // the limit of a Picture that sets none
	PixelCeiling           = 700_000_000 // the most that a limit may be: three bytes each still fit a 32-bit length
	MaxFileBytes     int64 = 256 << 20   // a larger file is refused
)
