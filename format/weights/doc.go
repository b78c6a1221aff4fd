// Package weights reads the weight files of trained networks: PyTorch's .pth, in the zip format and the one
// before it, .safetensors and NumPy's .npz. Whatever the format, a File is named tensors with types and shapes,
// whose elements are read one tensor at a time as float32.
//
// Files are treated as hostile. Opening one reads only names, types and places. Every number is checked
// against the file before memory is taken, and errors name the file, the tensor and the byte. The pickles in
// PyTorch's files are programs. Pickles that make tensors are interpreted, no code is run, and anything else
// in them is refused by its name (pickle.go).
package weights

import (
	"errors"

	"nmn/internal/fault"
)

// ErrFormat is wrapped by every error about a file that does not follow its format, or that needs an
// unsupported feature.
var ErrFormat = errors.New("not a file of weights that can be read")

func faultf(format string, args ...any) error { return fault.Newf(ErrFormat, format, args...) }

// clip shortens a name of a file for messages.
func clip(name string) string {
	const most = 80
	if runes := []rune(name); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return name
}
