package picture

import (
	"errors"
	"fmt"

	"nmn/loader/picture/jpeg"
)

// Decoder names what decodes JPEG files.
type Decoder string

const (
	// DecoderGo is nmn's own: package picture/jpeg.
	DecoderGo Decoder = "go"
	// DecoderStd is Go's image/jpeg. Its pixels differ by one here and there, for its inverse transform rounds
	// otherwise.
	DecoderStd Decoder = "std"
)

// Validate refuses a name that is no decoder; the empty one is DecoderGo.
func (d Decoder) Validate() error {
	switch d {
	case "", DecoderGo, DecoderStd:
		return nil
	}
	return fmt.Errorf("decoder %q is unknown; choose %q or %q", d, DecoderGo, DecoderStd)
}

// jpegDecoder is nmn's own.
type jpegDecoder = jpeg.Decoder

// decodeJPEG decodes a JPEG file by the decoder of the picture. done is false if the file's kind is left to
// image/jpeg.
func (p *Picture) decodeJPEG(data []byte, format fileFormat) (done bool, err error) {
	if err := jpeg.CheckScans(data); err != nil {
		return true, fmt.Errorf("%w: %s: %w", ErrCorrupt, format.name, err)
	}
	if p.Decoder == DecoderStd {
		return false, nil
	}
	if p.jpeg == nil {
		p.jpeg = &jpegDecoder{Level: p.Level}
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
