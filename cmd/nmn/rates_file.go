package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"nmn/eval"
	"nmn/labels/rates"
	"nmn/text"
)

// notes are what the table of rates does not tell.
func (f *foundRates) notes() []string {
	notes := []string{fmt.Sprintf("Calibrated probabilities, sigmoid(a o + b), have their best expected F1 from %.3f on (theta of each word in its column).", f.Threshold)}
	if f.Floor != nil {
		notes = append(notes, fmt.Sprintf("Rates are raised to at least q01 %.3f and q10 %.4f, as far as the labels let them.", f.Floor.Q01, f.Floor.Q10))
	}
	if f.MeanError != nil {
		notes = append(notes, fmt.Sprintf("Mean error against the true labels (T01, T10), over words whose rates are believed: q01 %.3f, q10 %.4f.", f.MeanError.Q01, f.MeanError.Q10))
	}
	return notes
}

// writeRates writes rates and calibration of all words; a rate that is not to be believed is empty.
func writeRates(path string, r *rates.Result) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	records := [][]string{{"word", "q01", "q10", "q01_low", "q01_high", "q10_low", "q10_high", "a", "b", "labels", "remarks"}}
	believed := r.Rates()
	for c, class := range r.Classes {
		var remarks []string
		for _, d := range class.Diagnoses {
			remarks = append(remarks, string(d))
		}
		record := []string{class.Word}
		for _, v := range []float64{believed.Q01[c], believed.Q10[c], class.Q01Interval.Low, class.Q01Interval.High, class.Q10Interval.Low, class.Q10Interval.High, class.A, class.B} {
			if math.IsNaN(v) {
				record = append(record, "")
			} else {
				record = append(record, strconv.FormatFloat(v, 'g', -1, 64))
			}
		}
		records = append(records, append(record, strconv.Itoa(class.Positives), strings.Join(remarks, "; ")))
	}
	if err := w.WriteAll(records); err != nil {
		return err
	}
	return writeFile(path, b.Bytes())
}

// givenRates are noise rates from a file, with the calibration that it may hold.
type givenRates struct {
	rates eval.Rates
	a, b  []float64 // nil where the file has no such columns
}

// readRates reads the columns word, q01 and q10, and a and b where they are there, of any table with a
// line for each word: what nmn rates has written, or the q.csv of a run. An empty rate is unknown.
func readRates(path string, wordsInOrder []string) (*givenRates, error) {
	list := make([]text.Word, len(wordsInOrder))
	for i, w := range wordsInOrder {
		list[i].Text = w
	}
	v, err := text.NewVocabulary(list)
	if err != nil {
		return nil, fmt.Errorf("the words of the scores: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	g, err := parseRates(f, v)
	if err != nil {
		return nil, inWordTable(path, err)
	}
	return g, nil
}

// inWordTable names the file of an error, and the line where it tells one.
func inWordTable(path string, err error) error {
	var at *text.WordTableError
	if errors.As(err, &at) {
		return fmt.Errorf("%s:%d: %w", path, at.Line, at.Err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

func parseRates(r io.Reader, v *text.Vocabulary) (*givenRates, error) {
	table, err := text.NewWordTable(r, v, "q01", "q10")
	if err != nil {
		return nil, err
	}
	g := &givenRates{rates: *eval.UnknownRates(v.Len())}
	targets := map[string][]float64{"q01": g.rates.Q01, "q10": g.rates.Q10}
	if columns := table.Columns(); slices.Contains(columns, "a") && slices.Contains(columns, "b") {
		g.a, g.b = make([]float64, v.Len()), make([]float64, v.Len())
		targets["a"], targets["b"] = g.a, g.b
	}
	for {
		class, err := table.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		for column, values := range targets {
			field := table.Field(column)
			rate := column == "q01" || column == "q10"
			if field == "" && rate {
				continue
			}
			x, err := strconv.ParseFloat(field, 64)
			if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || rate && !(x >= 0 && x <= 1) {
				return nil, &text.WordTableError{Line: table.Line(), Err: fmt.Errorf("word %q: %s is %.40q, want a number, and a rate from 0 to 1", v.Word(class).Text, column, field)}
			}
			values[class] = x
		}
	}
	if missing, first := table.Missing(); missing > 0 {
		return nil, fmt.Errorf("%d of %d words have no line, the first is %q", missing, v.Len(), first)
	}
	return g, nil
}
