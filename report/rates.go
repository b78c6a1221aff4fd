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
	"strings"

	"nmn/durable"
	"nmn/eval"
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
	p := &rateReader{name: name, vocabulary: v, rates: make(NoiseRates, v.Len()), line: make([]int, v.Len())}
	c := csv.NewReader(r)
	c.FieldsPerRecord = -1
	c.ReuseRecord = true
	for n := 0; ; n++ {
		record, err := c.Read()
		if errors.Is(err, io.EOF) {
			return p.finish(n)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %w", name, ErrRates, err)
		}
		line, _ := c.FieldPos(0)
		if n == 0 {
			err = p.header(record)
		} else {
			err = p.row(line, record)
		}
		if err != nil {
			return nil, err
		}
	}
}

// rateReader checks a file of rates line by line.
type rateReader struct {
	name       string
	vocabulary *text.Vocabulary
	columns    []string
	rates      NoiseRates
	line       []int // where each word was given, 0 where not yet
}

func (p *rateReader) header(record []string) error {
	for i, field := range record {
		column := strings.ToLower(strings.TrimSpace(strings.TrimPrefix(field, "\ufeff")))
		if !slices.Contains(rateColumns, column) && !slices.Contains(truthColumns, column) {
			return fmt.Errorf("%s:1: column %d is %.40q, want word, pos, q01, q10, t01 or t10: %w", p.name, i+1, column, ErrRates)
		}
		if slices.Contains(p.columns, column) {
			return fmt.Errorf("%s:1: column %q is given twice: %w", p.name, column, ErrRates)
		}
		p.columns = append(p.columns, column)
	}
	for _, needed := range []string{"word", "q01", "q10"} {
		if !slices.Contains(p.columns, needed) {
			return fmt.Errorf("%s:1: the header has no column %q: %w", p.name, needed, ErrRates)
		}
	}
	return nil
}

func (p *rateReader) row(line int, record []string) error {
	if len(record) != len(p.columns) {
		return fmt.Errorf("%s:%d: %d fields, the header has %d: %w", p.name, line, len(record), len(p.columns), ErrRates)
	}
	word := strings.Clone(strings.TrimSpace(record[slices.Index(p.columns, "word")]))
	class, ok := p.vocabulary.Index(word)
	if !ok {
		return fmt.Errorf("%s:%d: %.40q is not in the vocabulary: %w", p.name, line, word, ErrRates)
	}
	if p.line[class] != 0 {
		return fmt.Errorf("%s:%d: %q was given in line %d already: %w", p.name, line, word, p.line[class], ErrRates)
	}
	p.line[class] = line
	rate := NoiseRate{Word: word, POS: p.vocabulary.Word(class).POS, T01: eval.Undefined(), T10: eval.Undefined()}
	for i, field := range record {
		if err := rate.set(p.columns[i], strings.TrimSpace(field)); err != nil {
			return fmt.Errorf("%s:%d: word %q: %w", p.name, line, word, err)
		}
	}
	p.rates[class] = rate
	return nil
}

// set takes one field; the word and its group are already known from the vocabulary.
func (r *NoiseRate) set(column, field string) error {
	switch column {
	case "pos":
		if pos, err := text.ParsePOS(field); field != "" && (err != nil || pos != r.POS) {
			return fmt.Errorf("part of speech %.40q, the vocabulary has %v: %w", field, r.POS, ErrRates)
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
		return fmt.Errorf("%s is %.40q, want a rate from 0 to 1: %w", column, field, ErrRates)
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

func (p *rateReader) finish(records int) (NoiseRates, error) {
	if records == 0 {
		return nil, fmt.Errorf("%s: empty file, want a header word,pos,q01,q10: %w", p.name, ErrRates)
	}
	missing := 0
	first := ""
	for class, line := range p.line {
		if line == 0 {
			if missing == 0 {
				first = p.vocabulary.Word(class).Text
			}
			missing++
		}
	}
	if missing > 0 {
		return nil, fmt.Errorf("%s: %d of %d words have no rate, the first is %q: %w", p.name, missing, p.vocabulary.Len(), first, ErrRates)
	}
	return p.rates, nil
}
