package report

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"nmn/eval"
	"nmn/internal/durable"
	"nmn/text"
)

// ErrRates is wrapped by every error about the content of a file of noise rates.
var ErrRates = errors.New("not a valid file of noise rates")

// NoiseRate is the noise of one word: Q01 = p(z=0|y=1), how often it goes missing, and
// Q10 = p(z=1|y=0), how often it is made up, as a model estimates them, with the true rates T where
// they are known (else undefined).
type NoiseRate struct {
	Word               string
	POS                text.POS
	Q01, Q10, T01, T10 eval.Number
}

// NoiseRates are the rates of all words in class order: the file q.csv of a run, and the form in
// which rates per class are given to a training. Columns: word, pos, q01, q10 and, where known,
// t01, t10.
type NoiseRates []NoiseRate

var (
	rateColumns  = []string{"word", "pos", "q01", "q10"}
	truthColumns = []string{"t01", "t10"}
)

// RatesOf takes the rates out of an evaluation; nil when it has none.
func RatesOf(r *eval.Result) NoiseRates {
	if r == nil || r.Transition == nil {
		return nil
	}
	rates := make(NoiseRates, len(r.Words))
	for c, w := range r.Words {
		pos, err := text.ParsePOS(w.POS)
		if err != nil {
			pos = text.Others
		}
		rates[c] = NoiseRate{w.Word, pos, w.Q01, w.Q10, w.T01, w.T10}
	}
	return rates
}

// Rates returns the estimates as slices by class.
func (n NoiseRates) Rates() *eval.Rates {
	r := &eval.Rates{Q01: make([]float64, len(n)), Q10: make([]float64, len(n))}
	for c, w := range n {
		r.Q01[c], r.Q10[c] = float64(w.Q01), float64(w.Q10)
	}
	return r
}

func plainNumber(v eval.Number) string {
	if !v.Defined() {
		return ""
	}
	return strconv.FormatFloat(float64(v), 'g', -1, 64)
}

func (n NoiseRates) truthKnown() bool {
	return slices.ContainsFunc(n, func(r NoiseRate) bool { return r.T01.Defined() || r.T10.Defined() })
}

// WriteCSV writes the rates with full precision; an undefined rate is an empty field.
func (n NoiseRates) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	header := rateColumns
	known := n.truthKnown()
	if known {
		header = append(slices.Clip(header), truthColumns...)
	}
	if err := c.Write(header); err != nil {
		return err
	}
	for _, r := range n {
		fields := []string{r.Word, r.POS.String(), plainNumber(r.Q01), plainNumber(r.Q10)}
		if known {
			fields = append(fields, plainNumber(r.T01), plainNumber(r.T10))
		}
		if err := c.Write(fields); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// WriteFile writes the rates to a file, which appears whole or not at all.
func (n NoiseRates) WriteFile(path string) error {
	var b bytes.Buffer
	if err := n.WriteCSV(&b); err != nil {
		return err
	}
	if err := durable.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("cannot write noise rates %q: %w", path, err)
	}
	return nil
}

// ReadNoiseRatesFile reads a file of rates, see ReadNoiseRates.
func ReadNoiseRatesFile(path string, v *text.Vocabulary) (NoiseRates, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadNoiseRates(f, path, v)
}

// ReadNoiseRates reads what WriteCSV wrote, or a person: the columns word, q01 and q10 are needed;
// pos, t01 and t10 may be there; others are refused. Every word of the vocabulary must occur once,
// in any order; the result is in class order. Rates lie in 0 to 1; only t01 and t10 may be empty.
// Errors name the file, which is name, and the line, and wrap ErrRates.
func ReadNoiseRates(r io.Reader, name string, v *text.Vocabulary) (NoiseRates, error) {
	rates, err := readRates(r, v)
	var at *text.WordTableError
	switch {
	case errors.As(err, &at):
		return nil, fmt.Errorf("%s:%d: %w: %w", name, at.Line, at.Err, ErrRates)
	case err != nil:
		return nil, fmt.Errorf("%s: %w: %w", name, err, ErrRates)
	}
	return rates, nil
}

func readRates(r io.Reader, v *text.Vocabulary) (NoiseRates, error) {
	table, err := text.NewWordTable(r, v, "q01", "q10")
	if err != nil {
		return nil, err
	}
	columns := table.Columns()
	for i, column := range columns {
		if !slices.Contains(rateColumns, column) && !slices.Contains(truthColumns, column) {
			return nil, &text.WordTableError{Line: 1, Err: fmt.Errorf("column %d is %.40q, want word, pos, q01, q10, t01 or t10", i+1, column)}
		}
	}
	rates := make(NoiseRates, v.Len())
	for {
		class, err := table.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		word := v.Word(class)
		rates[class] = NoiseRate{Word: word.Text, POS: word.POS, T01: eval.Undefined(), T10: eval.Undefined()}
		for _, column := range columns {
			if err := rates[class].set(column, table.Field(column)); err != nil {
				return nil, &text.WordTableError{Line: table.Line(), Err: fmt.Errorf("word %q: %w", word.Text, err)}
			}
		}
	}
	if missing, first := table.Missing(); missing > 0 {
		return nil, fmt.Errorf("%d of %d words have no rate, the first is %q", missing, v.Len(), first)
	}
	return rates, nil
}

// set takes one field; the word and its group are already known from the vocabulary.
func (r *NoiseRate) set(column, field string) error {
	switch column {
	case "pos":
		if pos, err := text.ParsePOS(field); field != "" && (err != nil || pos != r.POS) {
			return fmt.Errorf("part of speech %.40q, the vocabulary has %v", field, r.POS)
		}
		return nil
	case "word":
		return nil
	}
	if field == "" && slices.Contains(truthColumns, column) {
		return nil
	}
	v, err := strconv.ParseFloat(field, 64)
	if err != nil || !(v >= 0 && v <= 1) {
		return fmt.Errorf("%s is %.40q, want a rate from 0 to 1", column, field)
	}
	switch column {
	case "q01":
		r.Q01 = eval.Number(v)
	case "q10":
		r.Q10 = eval.Number(v)
	case "t01":
		r.T01 = eval.Number(v)
	case "t10":
		r.T10 = eval.Number(v)
	}
	return nil
}
