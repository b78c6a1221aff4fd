// Package table reads and writes matrices with a row for each bag and a column for each word, as CSV and as
// NumPy's .npy: scores, labels and caption counts of any program. Files are hostile input: memory grows with
// the bytes read, never with a file's claims, and errors name the file, the row and the column.
//
// [Join] matches two such files by the names of their rows and columns. [Writer] writes files that the
// readers accept.
package table

import "errors"

// Errors that a caller may handle. Every error of this package about a file's content wraps one of them.
var (
	// ErrShape reports matrices whose sizes disagree, or a size that no matrix can have.
	ErrShape = errors.New("sizes disagree")
	// ErrValue reports NaN or a value outside its range.
	ErrValue = errors.New("value not allowed")
	// ErrFormat reports a file in the wrong format.
	ErrFormat = errors.New("not a valid file")
	// ErrNames reports words or bag identifiers that do not match.
	ErrNames = errors.New("names do not match")
)
