// Package npy reads and writes the .npy format of NumPy: a magic number, a Python dictionary with type, order
// and shape, then the elements. The header is treated as hostile input. Callers interpret the data.
package npy

import (
	"errors"

	"nmn/internal/fault"
)

// ErrFormat is wrapped by every error about a header that does not follow the format, or that needs an
// unsupported feature: structured and pickled arrays, complex numbers, text.
var ErrFormat = errors.New("not an .npy file that can be read")

func faultf(format string, args ...any) error { return fault.Newf(ErrFormat, format, args...) }
