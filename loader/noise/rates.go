package noise

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"nmn/loader"
	"nmn/text"
)

// ReadFlipRates reads rates per class from a CSV file, see ParseFlipRates.
func ReadFlipRates(path string, vocabulary *text.Vocabulary) (FlipRates, error) {
	f, err := os.Open(path)
	if err != nil {
		return FlipRates{}, fmt.Errorf("flip rates: %w", err)
	}
	defer f.Close()
	return ParseFlipRates(path, f, vocabulary)
}

// ParseFlipRates reads a CSV table with a header that names the columns word, q01 and q10, in any
// order and among others: the table that Statistics writes is one. Words without a line, and
// empty fields, have the rate 0. Unknown and repeated words are errors that wrap ErrAnnotations.
func ParseFlipRates(name string, r io.Reader, vocabulary *text.Vocabulary) (FlipRates, error) {
	rates := FlipRates{Missing: make([]float64, vocabulary.Len()), Incorrect: make([]float64, vocabulary.Len())}
	if err := rates.read(r, vocabulary); err != nil {
		return FlipRates{}, fmt.Errorf("flip rates %q, %w: %w", name, err, loader.ErrAnnotations)
	}
	return rates, nil
}

func (r *FlipRates) read(from io.Reader, vocabulary *text.Vocabulary) error {
	table, err := text.NewWordTable(from, vocabulary, "q01", "q10")
	if err != nil {
		return err
	}
	for {
		class, err := table.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		word := vocabulary.Word(class).Text
		if r.Missing[class], err = parseRate(table.Field("q01")); err != nil {
			return fmt.Errorf("line %d: q01 of %q %w", table.Line(), word, err)
		}
		if r.Incorrect[class], err = parseRate(table.Field("q10")); err != nil {
			return fmt.Errorf("line %d: q10 of %q %w", table.Line(), word, err)
		}
	}
}

// parseRate reads a probability; an empty field is 0.
func parseRate(field string) (float64, error) {
	if field == "" {
		return 0, nil
	}
	p, err := strconv.ParseFloat(field, 64)
	if err != nil || !(p >= 0 && p <= 1) {
		return 0, fmt.Errorf("is %q, want a probability from 0 to 1", loader.Excerpt(field))
	}
	return p, nil
}
