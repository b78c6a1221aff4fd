package loader

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

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
// order and among others: the table that NoiseStatistics writes is one. Words without a line, and
// empty fields, have the rate 0. Unknown and repeated words are errors that wrap ErrAnnotations.
func ParseFlipRates(name string, r io.Reader, vocabulary *text.Vocabulary) (FlipRates, error) {
	table := &ratesTable{csv: csv.NewReader(r), vocabulary: vocabulary, seen: make([]bool, vocabulary.Len())}
	table.rates = FlipRates{Missing: make([]float64, vocabulary.Len()), Incorrect: make([]float64, vocabulary.Len())}
	table.csv.ReuseRecord = true
	if err := table.header(); err != nil {
		return FlipRates{}, table.fail(name, err)
	}
	for {
		record, err := table.csv.Read()
		if errors.Is(err, io.EOF) {
			return table.rates, nil
		}
		if err == nil {
			table.at, _ = table.csv.FieldPos(0)
			err = table.line(record)
		}
		if err != nil {
			return FlipRates{}, table.fail(name, err)
		}
	}
}

// ratesTable is a table of rates while it is read.
type ratesTable struct {
	csv            *csv.Reader
	vocabulary     *text.Vocabulary
	word, q01, q10 int // columns
	at             int // line of the record that is being read
	seen           []bool
	rates          FlipRates
}

// fail names the line of an error; errors of the CSV itself know it already.
func (t *ratesTable) fail(name string, err error) error {
	var syntax *csv.ParseError
	if errors.As(err, &syntax) {
		return fmt.Errorf("flip rates %q: %w: %w", name, err, ErrAnnotations)
	}
	return fmt.Errorf("flip rates %q, line %d: %w: %w", name, max(t.at, 1), err, ErrAnnotations)
}

// header finds the columns.
func (t *ratesTable) header() error {
	titles, err := t.csv.Read()
	if errors.Is(err, io.EOF) {
		return errors.New("the file is empty; want a header with word, q01, q10")
	}
	if err != nil {
		return err
	}
	t.word, t.q01, t.q10 = -1, -1, -1
	for i, title := range titles {
		switch strings.ToLower(strings.TrimSpace(strings.TrimPrefix(title, "\ufeff"))) {
		case "word":
			t.word = i
		case "q01":
			t.q01 = i
		case "q10":
			t.q10 = i
		}
	}
	if t.word < 0 || t.q01 < 0 || t.q10 < 0 {
		return errors.New("the header lacks one of the columns word, q01, q10")
	}
	return nil
}

// line takes the rates of one word.
func (t *ratesTable) line(record []string) error {
	word := record[t.word]
	k, ok := t.vocabulary.Index(word)
	if !ok {
		return fmt.Errorf("%q is not a word of the vocabulary", clipID(word))
	}
	if t.seen[k] {
		return fmt.Errorf("%q has a line already", word)
	}
	t.seen[k] = true
	var err error
	if t.rates.Missing[k], err = parseRate(record[t.q01]); err != nil {
		return fmt.Errorf("q01 of %q %w", word, err)
	}
	if t.rates.Incorrect[k], err = parseRate(record[t.q10]); err != nil {
		return fmt.Errorf("q10 of %q %w", word, err)
	}
	return nil
}

// parseRate reads a probability; an empty field is 0.
func parseRate(field string) (float64, error) {
	field = strings.TrimSpace(field)
	if field == "" {
		return 0, nil
	}
	p, err := strconv.ParseFloat(field, 64)
	if err != nil || !(p >= 0 && p <= 1) {
		return 0, fmt.Errorf("is %q, want a probability from 0 to 1", clipID(field))
	}
	return p, nil
}
