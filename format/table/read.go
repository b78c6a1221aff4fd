// Package table reads and writes matrices with a row for each bag and a column for each word, as CSV and as
// NumPy's .npy: scores, labels and caption counts of any program. Files are hostile input: memory grows with
// the bytes read, never with a file's claims, and errors name the file, the row and the column.
//
// [Join] matches two such files by the names of their rows and columns. [Writer] writes files that the
// readers accept.
package table

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"nmn/internal/input"
)

// Matrix is a file of scores or caption counts: one row for each bag, one column for each word.
type Matrix struct {
	Name       string   // the file, for messages
	Words      []string // of the columns; nil if the file has no header (.npy)
	IDs        []string // of the rows; nil if the file has no "id" column
	Rows, Cols int
	Values     []float32 // row-major; float64 files are rounded
	// Counts replaces Values if ReadCounts or ReadLabels has read an .npy of bytes or bools.
	Counts []uint8
}

// ReadScores reads the scores of any program from a .csv or .npy file. Scores are probabilities, or log-odds
// if logits is set. NaN is an error that names row and column. Errors wrap ErrFormat, ErrShape, ErrValue or
// ErrNames, or come from the file system.
func ReadScores(path string, logits bool) (*Matrix, error) {
	return readMatrix(path, cellRule{clean: finite, fault: func(v float64) error {
		fault := ""
		switch s := float64(float32(v)); {
		case math.IsNaN(s):
			fault = "NaN"
		case !logits && math.IsInf(s, 0):
			fault = "an infinite probability"
		default:
			return nil
		}
		return fmt.Errorf("%s; score the sample again, or take it out of all files: %w", fault, ErrValue)
	}})
}

// finite reports whether no value is NaN or infinite.
func finite(values []float32) bool {
	for _, v := range values {
		if v-v != 0 {
			return false
		}
	}
	return true
}

// ReadCounts reads caption counts, whole numbers from 0 to captionsPerSample, from a .csv or .npy file.
func ReadCounts(path string, captionsPerSample int) (*Matrix, error) {
	if captionsPerSample < 2 || captionsPerSample > 255 { // counts are held as bytes
		return nil, fmt.Errorf("captions per sample: %d is outside 2 to 255; human agreement needs at least two "+
			"captions of a sample to compare: %w",
			captionsPerSample, ErrValue)
	}
	return readMatrix(path, cellRule{limit: captionsPerSample, fault: func(v float64) error {
		if !wholeUpTo(v, captionsPerSample) {
			return fmt.Errorf("count %v, want a whole number from 0 to %d captions: %w", v, captionsPerSample, ErrValue)
		}
		return nil
	}})
}

// ReadLabels reads labels, 0 or 1, from a .csv or .npy file. Join matches them to scores as it does
// counts: they come back as Joined.Counts.
func ReadLabels(path string) (*Matrix, error) {
	return readMatrix(path, cellRule{limit: 1, fault: func(v float64) error {
		if !wholeUpTo(v, 1) {
			return fmt.Errorf("label %v, want 0 or 1: %w", v, ErrValue)
		}
		return nil
	}})
}

// Unknown stands for an unknown label among labels 0 and 1.
const Unknown = 255

// ReadKnownLabels reads labels as ReadLabels does. Some may be unknown: -1 or NaN, and in a .csv also an empty field.
// They come back as Unknown.
func ReadKnownLabels(path string) (*Matrix, error) {
	return readMatrix(path, cellRule{limit: 1, gaps: true, gap: Unknown, fault: func(v float64) error {
		if !wholeUpTo(v, 1) && !isGap(v) {
			return fmt.Errorf("label %v, want 0 or 1, or -1 if it is unknown: %w", v, ErrValue)
		}
		return nil
	}})
}

// isGap reports whether a number is an unknown label.
func isGap(v float64) bool { return v == -1 || math.IsNaN(v) }

// wholeUpTo is false for NaN too.
func wholeUpTo(v float64, limit int) bool { return v >= 0 && v <= float64(limit) && v == math.Trunc(v) }

// cellRule defines which values are allowed.
type cellRule struct {
	fault func(v float64) error // the error of a value, or nil
	// clean reports whether all values are valid, faster than checking each. It is nil for rules without such
	// a way. It may return false for valid values.
	clean  func(values []float32) bool
	limit  int  // not 0 if values are whole numbers from 0 up to it, which bytes hold
	gaps   bool // set if -1, NaN and an empty field stand for an unknown label, which becomes gap
	gap    float32
	single bool // set for one column, whatever its heading. A .npy may have one dimension then.
	// parse reads a field of text; nil for parseNumber.
	parse func(field string) (float64, error)
}

// number reads a field of text.
func (r *cellRule) number(field string) (float64, error) {
	if r.parse != nil {
		return r.parse(field)
	}
	return parseNumber(field, r.gaps)
}

// parseNumber reads a number. An empty field is NaN if there may be gaps.
func parseNumber(field string, gaps bool) (float64, error) {
	if field == "" && gaps {
		return math.NaN(), nil
	}
	v, err := strconv.ParseFloat(field, 32)
	if err != nil {
		return 0, fmt.Errorf("%.40q is not a number that float32 holds: %w", field, ErrFormat)
	}
	return v, nil
}

// held is a value as it is kept.
func (r *cellRule) held(v float32) float32 {
	if r.gaps && isGap(float64(v)) {
		return r.gap
	}
	return v
}

func readMatrix(path string, rule cellRule) (*Matrix, error) {
	f, err := input.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".csv":
		return readCSV(f, path, rule)
	case ".npy":
		return readNPY(f, path, f.Size(), rule)
	default:
		return nil, fmt.Errorf("%s: file type %q, want .csv or .npy: %w", path, ext, ErrFormat)
	}
}

// names maps each name to its position. A repeated name is an error.
func names(file, what string, list []string) (map[string]int, error) {
	at := make(map[string]int, len(list))
	for i, name := range list {
		if first, ok := at[name]; ok {
			return nil, fmt.Errorf("%s: %s %q is given twice, as %d and %d: %w", file, what, name, first+1, i+1, ErrNames)
		}
		at[name] = i
	}
	return at, nil
}

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
