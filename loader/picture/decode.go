package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
)

// Decode decodes a JPEG, a PNG or the first frame of a GIF into 8-bit RGB, reusing the buffer of pic where it is
// large enough. A JPEG is decoded by pic.Decoder, and by image/jpeg where that does not take its kind.
//
// Every colour model is accepted. Grey is repeated over the channels, CMYK is converted, of 16 bits
// the upper 8 count, and what is transparent shows white. Chroma that was stored at half the
// resolution is interpolated linearly, as libjpeg does by default; the pixels of package picture/jpeg are those of
// libjpeg. An EXIF orientation is not applied: the pixels are those that the file stores, as data sets and PyTorch
// take them.
//
// A picture of more than maxPixels pixels is refused on its header, before memory is taken for it,
// and so is one whose file is too short to hold as many pixels as its header says, or a JPEG of more than
// 256 scans. All errors wrap ErrCorrupt; pic is then undefined.
func Decode(data []byte, pic *Picture, maxPixels int) (err error) {
	defer func() { // a fault of a decoder must cost one picture, not the training run
		if fault := recover(); fault != nil {
			err = fmt.Errorf("%w: the decoder failed: %v", ErrCorrupt, fault)
		}
	}()
	if len(data) == 0 {
		return fmt.Errorf("%w: the file is empty", ErrCorrupt)
	}
	format, ok := sniff(data)
	if !ok {
		return fmt.Errorf("%w: not a JPEG, PNG or GIF file: %d bytes that start with %x",
			ErrCorrupt, len(data), data[:min(8, len(data))])
	}
	if format.name == jpegFormat {
		if done, err := pic.decodeJPEG(data, format, maxPixels); done {
			return err
		}
	}
	header, err := format.header(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("%w: %s header: %w", ErrCorrupt, format.name, err)
	}
	if err := format.check(data, header.Width, header.Height, maxPixels); err != nil {
		return err
	}
	pic.take(header.Width, header.Height, format.bytesPerPixel)
	decoded, err := format.decode(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrCorrupt, format.name, err)
	}
	pic.Resize(header.Width, header.Height)
	pic.convert(decoded)
	return nil
}

// check refuses a file whose header says a size that is too large, or more than the file can hold.
func (f *fileFormat) check(data []byte, width, height, maxPixels int) error {
	if err := checkSize(width, height, maxPixels); err != nil {
		return err
	}
	if least := f.leastBytes(data, int64(width)*int64(height)); int64(len(data)) < least {
		return fmt.Errorf("%w: %s of %d×%d pixels in %d bytes, at least %d are needed: the file is cut short",
			ErrCorrupt, f.name, width, height, len(data), least)
	}
	return nil
}

func checkSize(width, height, maxPixels int) error {
	if width <= 0 || height <= 0 {
		return fmt.Errorf("%w: it has %d×%d pixels", ErrCorrupt, width, height)
	}
	if width > maxPixels/height {
		return fmt.Errorf("%w: %d×%d pixels are more than the limit of %d; shrink it or raise the limit",
			ErrCorrupt, width, height, maxPixels)
	}
	return nil
}

// fileFormat is one file format. leastBytes is a lower bound of the size of a complete file with
// that many pixels: it keeps a header of a few bytes from claiming memory for millions of pixels.
type fileFormat struct {
	name       string
	magic      string
	header     func(*bytes.Reader) (image.Config, error)
	decode     func(*bytes.Reader) (image.Image, error)
	leastBytes func(data []byte, pixels int64) int64
	// bytesPerPixel is what the decoder of the standard library takes at most, with the pixels of the picture.
	bytesPerPixel int
}

const jpegFormat = "JPEG"

var fileFormats = [...]fileFormat{
	{
		jpegFormat, "\xff\xd8\xff",
		func(r *bytes.Reader) (image.Config, error) { return jpeg.DecodeConfig(r) },
		func(r *bytes.Reader) (image.Image, error) { return jpeg.Decode(r) },
		// One bit at least codes the mean of each block of 8×8 pixels.
		func(_ []byte, pixels int64) int64 { return pixels / 64 / 8 },
		stdJPEGBytes,
	},
	{
		"PNG", "\x89PNG\r\n\x1a\n",
		func(r *bytes.Reader) (image.Config, error) { return png.DecodeConfig(r) },
		func(r *bytes.Reader) (image.Image, error) { return png.Decode(r) },
		pngLeastBytes,
		pngBytes,
	},
	{
		"GIF", "GIF8",
		func(r *bytes.Reader) (image.Config, error) { return gif.DecodeConfig(r) },
		func(r *bytes.Reader) (image.Image, error) { return gif.Decode(r) },
		// The frame may be smaller than the screen, whose size the header gives.
		func([]byte, int64) int64 { return 0 },
		gifBytes,
	},
}

// Format is the name of the format of a file, JPEG, PNG or GIF, by how it starts; empty for another.
func Format(data []byte) string {
	format, _ := sniff(data)
	return format.name
}

func sniff(data []byte) (fileFormat, bool) {
	for _, format := range fileFormats {
		if bytes.HasPrefix(data, []byte(format.magic)) {
			return format, true
		}
	}
	return fileFormat{}, false
}

// pngLeastBytes uses that deflate shrinks by a factor of 1032 at most.
func pngLeastBytes(data []byte, pixels int64) int64 {
	const depthAt, kindAt = 24, 25 // the header chunk stands first
	if len(data) <= kindAt {
		return int64(kindAt) + 1
	}
	channels := int64(1) // grey, or an index into a palette
	switch data[kindAt] {
	case 2:
		channels = 3
	case 4:
		channels = 2
	case 6:
		channels = 4
	}
	return pixels * channels * int64(data[depthAt]) / 8 / 1032
}
