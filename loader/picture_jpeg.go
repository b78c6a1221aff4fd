package loader

import (
	"errors"
	"fmt"

	"nmn/loader/jpeg"
)

// Decoder names what decodes JPEG files.
type Decoder string

const (
	// DecoderGo is nmn's own: package loader/jpeg.
	DecoderGo Decoder = "go"
	// DecoderStd is Go's image/jpeg. Its pixels differ from those of the others by one here and there, for
	// its inverse transform rounds otherwise.
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

// decodeJPEG decodes a JPEG file by nmn's own decoder. What that does not take is none of its errors: done
// is false then.
func (p *Picture) decodeJPEG(data []byte, format pictureFormat, maxPixels int) (done bool, err error) {
	if p.jpeg == nil {
		p.jpeg = &jpeg.Decoder{Level: p.Level}
	}
	width, height, err := p.jpeg.Header(data)
	if err == nil {
		if err := format.check(data, width, height, maxPixels); err != nil {
			return true, err
		}
		p.resize(width, height)
		err = p.jpeg.Decode(p.Pix)
	}
	if errors.Is(err, jpeg.ErrUnsupported) {
		return false, nil
	}
	if err != nil {
		return true, fmt.Errorf("%w: %s: %w", ErrCorrupt, format.name, err)
	}
	return true, nil
}
