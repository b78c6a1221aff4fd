package train

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"nmn/eval"
	"nmn/text"
)

// rateColumns is the header of files of rates.
var rateColumns = []string{"word", "q01", "q10"}

// WriteRates writes one line for each class: word, q01 = p(z=0|y=1), q10 = p(z=1|y=0). An unknown rate
// is an empty cell. ReadRates reads it back.
func WriteRates(w io.Writer, v *text.Vocabulary, r *eval.Rates) error {
	if len(r.Q01) != v.Len() || len(r.Q10) != v.Len() {
		return fmt.Errorf("training: %d and %d rates for %d words", len(r.Q01), len(r.Q10), v.Len())
	}
	out := csv.NewWriter(w)
	lines := [][]string{rateColumns}
	for c := range v.Len() {
		lines = append(lines, []string{v.Word(c).Text, formatRate(r.Q01[c]), formatRate(r.Q10[c])})
	}
	if err := out.WriteAll(lines); err != nil {
		return fmt.Errorf("training: cannot write rates: %w", err)
	}
	return nil
}

func formatRate(q float64) string {
	if math.IsNaN(q) {
		return ""
	}
	return strconv.FormatFloat(q, 'g', -1, 64)
}

// ReadRates reads rates for NoiseConfig, one line for each word of the vocabulary in any order, under
// the header word,q01,q10. Errors name the line.
func ReadRates(r io.Reader, v *text.Vocabulary) (missRate, falseRate []float32, err error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord, in.ReuseRecord = len(rateColumns), true
	header, err := in.Read()
	if err != nil {
		return nil, nil, fmt.Errorf("rates: cannot read the header word,q01,q10: %w", err)
	}
	for i, want := range rateColumns {
		if header[i] != want {
			return nil, nil, fmt.Errorf("rates: line 1: column %d is %q, want %q", i+1, header[i], want)
		}
	}
	missRate, falseRate = make([]float32, v.Len()), make([]float32, v.Len())
	lines := make([]int, v.Len()) // where each class was read
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, fmt.Errorf("rates: %w", err)
		}
		line, _ := in.FieldPos(0)
		c, ok := v.Index(record[0])
		switch {
		case !ok:
			return nil, nil, fmt.Errorf("rates: line %d: %q is not in the vocabulary of %d words", line, record[0], v.Len())
		case lines[c] > 0:
			return nil, nil, fmt.Errorf("rates: line %d repeats %q of line %d", line, record[0], lines[c])
		}
		lines[c] = line
		for i, dst := range [][]float32{missRate, falseRate} {
			q, err := strconv.ParseFloat(record[i+1], 32)
			if err != nil || !(q >= 0 && q <= 1) {
				return nil, nil, fmt.Errorf("rates: line %d (%q): %s is %q, want a probability from 0 to 1", line, record[0], rateColumns[i+1], record[i+1])
			}
			dst[c] = float32(q)
		}
	}
	for c, line := range lines {
		if line == 0 {
			return nil, nil, fmt.Errorf("rates: no line for %q: every one of the %d words needs its rates", v.Word(c).Text, v.Len())
		}
	}
	return missRate, falseRate, nil
}
