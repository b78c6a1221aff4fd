package picture

import (
	"bytes"
	"fmt"
)

// Decode decodes a picture of one of the Formats into 8-bit RGB, of a GIF the first frame and of a TIFF the first page,
// reusing the buffer of pic where it is large enough. A JPEG is decoded by pic.Decoder, and by image/jpeg where that
// does not take its kind.
//
// Every colour model is accepted. Grey is repeated over the channels, CMYK is converted, of 16 bits
// the upper 8 count, and what is transparent shows white. Chroma that was stored at half the
// resolution is interpolated linearly, as libjpeg does by default; the pixels of package picture/jpeg are those of
// libjpeg. What is done about the orientation that a file states, pic.Orientation says.
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
		return fmt.Errorf("%w: %s", ErrCorrupt, unreadable(data))
	}
	orientation := 1
	if pic.Orientation == OrientationApply {
		if orientation = StoredOrientation(data); orientation != 1 {
			format.bytesPerPixel += turnBytes
		}
	}
	if err := pic.decode(data, format, maxPixels); err != nil {
		return err
	}
	pic.turn(orientation)
	return nil
}

func (p *Picture) decode(data []byte, format fileFormat, maxPixels int) error {
	if format.name == jpegFormat {
		if done, err := p.decodeJPEG(data, format, maxPixels); done {
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
	p.take(header.Width, header.Height, format.bytesPerPixel)
	decoded, err := format.decode(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrCorrupt, format.name, err)
	}
	p.Resize(header.Width, header.Height)
	if format.name == webpFormat {
		return p.convertWebP(decoded)
	}
	p.convert(decoded)
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
