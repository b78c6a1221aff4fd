package loader

import "errors"

// ErrCorrupt marks a picture that cannot be used: its file is missing, unreadable, not a picture,
// cut short, damaged or beyond the limits. The Loader skips such pictures up to a limit.
var ErrCorrupt = errors.New("picture cannot be used")

// resize sets the size, keeping the buffer where it is large enough. Pixels are not cleared.
func (p *Picture) resize(width, height int) {
	n := width * height * 3
	if cap(p.Pix) < n {
		p.Pix = make([]uint8, n)
	}
	p.Width, p.Height, p.Pix = width, height, p.Pix[:n]
}
