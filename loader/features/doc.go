// Package features reads feature vectors ("embeddings") and their labels from files: .npy, .npz and
// .safetensors matrices, CSV, Parquet and ARFF tables. A file becomes a [Table] of N rows:
//
//	table, err := features.Open(ctx, features.Options{Features: "train.arff", Labels: "scene.xml"})
//	defer table.Close()
//	err = table.Rows.Read(7, vector)
//
// Matrices of .npy, .safetensors and uncompressed .npz stay on disk and are read row by row, at any size.
// Text and compressed files are decoded into memory once, within [Options.Limit].
//
// Files are not trusted: sizes are checked against the file before memory is allocated, and every error names
// the file, the row or line, and the column. Rows, lines and columns count from 1 in messages and from 0 in
// the program.
package features

import (
	"errors"

	"nmn/internal/fault"
)

// Errors that a caller may handle.
var (
	// ErrFormat is wrapped by errors about a file that violates its format, or that lacks requested content.
	ErrFormat = errors.New("the file cannot be read as features or labels")
	// ErrValue is wrapped by errors about a number that is no feature (NaN, infinite) or no label.
	ErrValue = errors.New("the value cannot be used")
)

func formatf(format string, args ...any) error { return fault.Newf(ErrFormat, format, args...) }
func valuef(format string, args ...any) error  { return fault.Newf(ErrValue, format, args...) }

// clip shortens text from a file for a message.
func clip(s string) string {
	const longest = 60
	if len(s) > longest {
		return s[:longest] + "..."
	}
	return s
}
