package picture

import (
	"errors"
	"fmt"

	"nmn/loader/picture/jpeg"
	"nmn/loader/picture/jpeg/turbo"
)

// Decoder names what decodes JPEG files.
type Decoder string

const (
	// DecoderGo is nmn's own: package picture/jpeg.
	DecoderGo Decoder = "go"
	// DecoderTurbo is libjpeg-turbo, in builds with cgo where the library is found: the same pixels. What
	// it refuses goes to DecoderGo, which has the last word.
	DecoderTurbo Decoder = "turbo"
	// DecoderStd is Go's image/jpeg. Its pixels differ from those of the others by one here and there, for
	// its inverse transform rounds otherwise.
	DecoderStd Decoder = "std"
)

// Validate refuses a name that is no decoder; the empty one is DecoderGo. One that cannot be used here is
// refused too, with the reason.
func (d Decoder) Validate() error {
	switch d {
	case "", DecoderGo, DecoderStd:
		return nil
	case DecoderTurbo:
		if _, err := turbo.New(); err != nil {
			return fmt.Errorf("decoder %q: %w; choose %q", d, err, DecoderGo)
		}
		return nil
	}
	return fmt.Errorf("decoder %q is unknown; choose %q, %q or %q", d, DecoderGo, DecoderTurbo, DecoderStd)
}

// jpegDecoder decodes files into RGB; those of packages jpeg and turbo do.
type jpegDecoder interface {
	Header(data []byte) (width, height int, err error)
	Decode(rgb []uint8) error
}

// jpegDecoders are made when they are first needed, and keep their memory.
type jpegDecoders struct {
	own   *jpeg.Decoder
	turbo *turbo.Decoder
}

// decodeJPEG decodes a JPEG file by the decoder of the picture. done is false where the file is of a kind
// that is left to image/jpeg.
func (p *Picture) decodeJPEG(data []byte, format fileFormat, maxPixels int) (done bool, err error) {
	if err := jpeg.CheckScans(data); err != nil {
		return true, fmt.Errorf("%w: %s: %w", ErrCorrupt, format.name, err)
	}
	if p.Decoder == DecoderStd {
		return false, nil
	}
	if p.Decoder == DecoderTurbo {
		if p.jpeg.turbo == nil {
			if p.jpeg.turbo, err = turbo.New(); err != nil {
				return true, err // of the system, not of the picture
			}
		}
		if p.decodeJPEGBy(p.jpeg.turbo, data, format, maxPixels) == nil {
			return true, nil
		}
	}
	if p.jpeg.own == nil {
		p.jpeg.own = &jpeg.Decoder{Level: p.Level}
	}
	err = p.decodeJPEGBy(p.jpeg.own, data, format, maxPixels)
	return !errors.Is(err, jpeg.ErrUnsupported), err
}

func (p *Picture) decodeJPEGBy(d jpegDecoder, data []byte, format fileFormat, maxPixels int) error {
	width, height, err := d.Header(data)
	if err == nil {
		if err := format.check(data, width, height, maxPixels); err != nil {
			return err
		}
		p.take(width, height, ownJPEGBytes+format.bytesPerPixel-stdJPEGBytes)
		p.Resize(width, height)
		err = d.Decode(p.Pix)
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrCorrupt, format.name, err)
	}
	return nil
}
