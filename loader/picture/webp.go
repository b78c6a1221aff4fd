package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"io"

	"golang.org/x/image/webp"

	"nmn/kernels/simd"
)

// convertWebP writes a WebP as RGB. Lossy ones hold luma from 16 to 235 and chroma from 16 to 240, as television does,
// whereas image.YCbCr is taken for the full range of JPEG.
func (p *Picture) convertWebP(img image.Image) error {
	var alpha *image.NYCbCrA
	var colours *image.YCbCr
	switch img := img.(type) {
	case *image.YCbCr:
		colours = img
	case *image.NYCbCrA:
		alpha, colours = img, &img.YCbCr
	default: // lossless
		p.convert(img)
		return nil
	}
	bounds := colours.Bounds()
	if bounds != image.Rect(0, 0, p.Width, p.Height) {
		return fmt.Errorf("%w: %s: the size of the picture differs from its header", ErrCorrupt, webpFormat)
	}
	c := newChroma(colours)
	p.eachRow(bounds, func(y int, row []uint8) {
		n := len(row) / 3
		luma := colours.Y[colours.YOffset(0, y):][:n]
		cb, cr := c.row(p.Level, colours.Cb, y, c.cb), c.row(p.Level, colours.Cr, y, c.cr)
		for x, v := range luma {
			studioRGB(row[3*x:], v, cb[x], cr[x])
		}
		if alpha != nil {
			overWhite(row, alpha.A[alpha.AOffset(0, y):][:n])
		}
	})
	return nil
}

// chroma interpolates the chroma of a picture that stores it at half the resolution (4:2:0). Along each axis the
// nearest sample weighs three quarters and the next one a quarter.
type chroma struct {
	width, height, stride int // samples of a plane
	mixed                 []uint16
	cb, cr                []uint8 // one row at full resolution
}

func newChroma(img *image.YCbCr) *chroma {
	c := &chroma{width: (img.Rect.Dx() + 1) / 2, height: (img.Rect.Dy() + 1) / 2, stride: img.CStride}
	c.mixed, c.cb, c.cr = make([]uint16, c.width+2), make([]uint8, 2*c.width), make([]uint8, 2*c.width)
	return c
}

// row returns row y of a plane at full resolution in into. Halves are rounded up and down by turns, so that the mean
// does not shift.
func (c *chroma) row(level simd.Level, plane []uint8, y int, into []uint8) []uint8 {
	sample := func(row int) []uint8 { return plane[min(max(row, 0), c.height-1)*c.stride:][:c.width] }
	level.DoubleRow(into, sample(y/2), sample(y/2-1+2*(y&1)), c.mixed, 8, 7)
	return into
}

// studioRGB converts one pixel by ITU-R BT.601 in its studio range, in units of 2^-16.
func studioRGB(pixel []uint8, y, cb, cr uint8) {
	const luma, redCr, greenCb, greenCr, blueCb = 76309, 104597, 25675, 53279, 132201
	level, u, v := luma*(int32(y)-16)+1<<15, int32(cb)-128, int32(cr)-128
	pixel[0] = clamp((level + redCr*v) >> 16)
	pixel[1] = clamp((level - greenCb*u - greenCr*v) >> 16)
	pixel[2] = clamp((level + blueCb*u) >> 16)
}

func clamp(v int32) uint8 { return uint8(min(max(v, 0), 255)) }

// overWhite puts a row of colours that are partly transparent on white.
func overWhite(row, alpha []uint8) {
	for x, a := range alpha {
		for c := range 3 {
			row[3*x+c] = uint8((uint32(row[3*x+c])*uint32(a) + 255*(255-uint32(a)) + 127) / 255)
		}
	}
}

// webpHeader reads the header of a WebP, and names an animation, which the decoder only calls invalid.
func webpHeader(file io.Reader) (image.Config, error) {
	const animated, flags = 0x02, 20 // in the byte after the size of VP8X, the first chunk
	start := make([]byte, flags+1)
	n, _ := io.ReadFull(file, start)
	if start[flags]&animated != 0 && bytes.Equal(start[12:16], []byte("VP8X")) {
		return image.Config{}, errors.New("it is an animation, which is not read; write its first frame to another file, " +
			"for example by magick 'a.webp[0]' a.png")
	}
	return webp.DecodeConfig(io.MultiReader(bytes.NewReader(start[:n]), file))
}
