package picture

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"

	"nmn/loader/picture/jpeg"
)

// Decode decodes a picture of one of the Formats into 8-bit RGB, reusing the buffer of pic if it is large
// enough. It takes the first frame of a GIF and the first page of a TIFF. A JPEG is decoded by package
// picture/jpeg, or by image/jpeg if that does not support its kind.
//
// Every colour model is accepted. Grey is repeated over the channels, CMYK is converted, the upper 8 of 16
// bits are used, and transparent pixels become white. Chroma that was stored at half the resolution is
// interpolated linearly. pic.Orientation selects whether the orientation in the file is applied.
//
// A picture of more than pic.MaxPixels pixels is refused after reading its header, before memory is allocated. So
// is a file that is too short for the pixels that its header claims, and a JPEG of more than 256 scans. All
// errors wrap ErrCorrupt; the pixels are then undefined.
func Decode(data []byte, pic *Picture) (err error) {
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
	if err := pic.decode(data, format); err != nil {
		return err
	}
	pic.turn(orientation)
	return nil
}

func (p *Picture) decode(data []byte, format fileFormat) error {
	if format.name == jpegFormat {
		if done, err := p.decodeJPEG(data, format); done {
			return err
		}
	}
	header, err := format.header(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("%w: %s header: %w", ErrCorrupt, format.name, err)
	}
	if err := p.check(data, &format, header.Width, header.Height); err != nil {
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

// decodeJPEG decodes a JPEG file by package picture/jpeg. done is false if the file's kind is left to image/jpeg.
func (p *Picture) decodeJPEG(data []byte, format fileFormat) (done bool, err error) {
	if err := jpeg.CheckScans(data); err != nil {
		return true, fmt.Errorf("%w: %s: %w", ErrCorrupt, format.name, err)
	}
	if p.jpeg == nil {
		p.jpeg = &jpeg.Decoder{Level: p.Level}
	}
	d := p.jpeg // taking room may release it from the picture
	width, height, err := d.Header(data)
	if err == nil {
		if err := p.check(data, &format, width, height); err != nil {
			return true, err
		}
		p.take(width, height, ownJPEGBytes+format.bytesPerPixel-stdJPEGBytes)
		p.Resize(width, height)
		err = d.Decode(p.Pix)
	}
	if err != nil {
		err = fmt.Errorf("%w: %s: %w", ErrCorrupt, format.name, err)
	}
	return !errors.Is(err, jpeg.ErrUnsupported), err
}

// check refuses a file whose header claims a size that is too large, or more than the file can hold.
func (p *Picture) check(data []byte, f *fileFormat, width, height int) error {
	most := cmp.Or(p.MaxPixels, DefaultMaxPixels)
	if width <= 0 || height <= 0 {
		return fmt.Errorf("%w: it has %d×%d pixels", ErrCorrupt, width, height)
	}
	if width > most/height {
		return fmt.Errorf("%w: %d×%d pixels are more than the limit of %d; shrink it or raise the limit",
			ErrCorrupt, width, height, most)
	}
	if least := f.leastBytes(data, int64(width)*int64(height)); int64(len(data)) < least {
		return fmt.Errorf("%w: %s of %d×%d pixels in %d bytes, at least %d are needed: the file is cut short",
			ErrCorrupt, f.name, width, height, len(data), least)
	}
	return nil
}
