package inject

import (
	"fmt"
	"io"

	"nmn/internal/input"
	"nmn/labels"
	"nmn/loader"
	"nmn/text"
)

// ReadFlipRates reads rates per class from a CSV file, see parseFlipRates.
func ReadFlipRates(path string, vocabulary *text.Vocabulary) (labels.Rates, error) {
	f, err := input.OpenFile(path)
	if err != nil {
		return labels.Rates{}, fmt.Errorf("flip rates: %w", err)
	}
	defer f.Close()
	return parseFlipRates(path, f, vocabulary)
}

// parseFlipRates reads a CSV table with a header that names the columns class, q01 and q10, in any
// order and among others: the table that Statistics writes is one. Words without a line, and
// empty fields, have the rate 0. Unknown and repeated classes are errors that wrap loader.ErrAnnotations.
func parseFlipRates(name string, r io.Reader, vocabulary *text.Vocabulary) (labels.Rates, error) {
	table, err := labels.Read(r, vocabulary, labels.Flips)
	if err != nil {
		return labels.Rates{}, loader.Unusable(fmt.Errorf("flip rates %q, %w", name, err))
	}
	return *table.Rates(), nil
}
