//go:build !(cgo && linux && (turbo || cuda))

package turbo

import "fmt"

// Decoder is never made in this build.
type Decoder struct{}

// New returns an error that wraps ErrMissing: this build lacks the decoder.
func New() (*Decoder, error) {
	return nil, fmt.Errorf("%w: the program was built without cgo and the tag turbo or cuda, or not for Linux",
		ErrMissing)
}

// Header is for the interface alone.
func (*Decoder) Header([]byte) (width, height int, err error) { return 0, 0, ErrMissing }

// Decode is for the interface alone.
func (*Decoder) Decode([]uint8) error { return ErrMissing }
