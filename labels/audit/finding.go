package audit

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"nmn/internal/durable"
)

// Finding is a suspect with names in place of numbers. It is a row of the
// ranked list in every format.
type Finding struct {
	ID    string  `json:"id" parquet:"id"`
	Word  string  `json:"word" parquet:"word,dict"`
	Kind  Kind    `json:"kind" parquet:"kind,dict"`
	Given uint8   `json:"given" parquet:"given"`     // the label z
	Wrong float64 `json:"p_wrong" parquet:"p_wrong"` // probability that it is wrong
	P     float64 `json:"p" parquet:"p"`             // p(y=1|I), without the label
	Q01   float64 `json:"q01" parquet:"q01"`         // noise rates of the word
	Q10   float64 `json:"q10" parquet:"q10"`
	Rank  int64   `json:"rank" parquet:"rank"`        // from 1; probabilities near 1 may be equal where ranks are not
	Rates string  `json:"rates" parquet:"rates,dict"` // OwnRates or PooledRates
}

// Whose rates a suspect is ranked by.
const (
	OwnRates    = "own"    // those of its word
	PooledRates = "pooled" // those of all words together, for its word has too few labels: nothing is claimed of it
)

// Finding names the suspect at a place of the ranked list, counted from 0.
func (in *Input) Finding(at int, s Suspect) Finding {
	return Finding{
		ID: in.ID(int(s.Bag)), Word: in.Word(int(s.Class)), Kind: s.Kind(), Given: s.Given, Wrong: s.Error(), P: s.P,
		Q01: in.Rates.Q01[s.Class], Q10: in.Rates.Q10[s.Class], Rank: int64(at) + 1,
		Rates: in.ratesOf(int(s.Class)),
	}
}

// ratesOf says whose rates a class is audited with.
func (in *Input) ratesOf(class int) string {
	if in.IsPooled(class) {
		return PooledRates
	}
	return OwnRates
}

// SuspectFormats are the endings of files of suspects.
var SuspectFormats = []string{".csv", ".jsonl", ".parquet"}

// WriteSuspectsFile writes the ranked list as a table, one row for each suspect, in the format that the
// ending of the name decides: one of SuspectFormats. Rows are written as they are made, and the file
// appears when it is whole.
func WriteSuspectsFile(path string, in Input, suspects []Suspect) error {
	write := WriteSuspects
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
	case ".jsonl":
		write = writeSuspectLines
	case ".parquet":
		write = writeSuspectParquet
	default:
		return fmt.Errorf("cannot write suspects to %q: its name ends in none of %s",
			path, strings.Join(SuspectFormats, ", "))
	}
	return durable.Stream(path, 0o644, func(out io.Writer) error { return write(out, in, suspects) })
}

// WriteSuspects writes suspects as CSV, the surest first.
func WriteSuspects(out io.Writer, in Input, suspects []Suspect) error {
	w := csv.NewWriter(out)
	if err := w.Write([]string{"id", "word", "kind", "given", "p_wrong", "p", "q01", "q10", "rank",
		"rates"}); err != nil {
		return err
	}
	for at, s := range suspects {
		f := in.Finding(at, s)
		record := []string{f.ID, f.Word, string(f.Kind), strconv.Itoa(int(f.Given)), digits(f.Wrong), digits(f.P),
			digits(f.Q01), digits(f.Q10), strconv.FormatInt(f.Rank, 10), f.Rates}
		if err := w.Write(record); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// writeSuspectLines writes a JSON object on each line.
func writeSuspectLines(out io.Writer, in Input, suspects []Suspect) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	for at, s := range suspects {
		f := in.Finding(at, s)
		if err := f.checkText(); err != nil {
			return err
		}
		if err := e.Encode(f); err != nil {
			return err
		}
	}
	return nil
}

// suspectGroup is how many rows of a Parquet file lie together, and in memory until they are written.
const suspectGroup = 1 << 17

// writeSuspectParquet writes a Parquet table: text as UTF-8, with words and kinds as dictionaries;
// given as an unsigned byte, probabilities as doubles, rank as a 64-bit integer. No column has nulls.
func writeSuspectParquet(out io.Writer, in Input, suspects []Suspect) error {
	w := parquet.NewGenericWriter[Finding](out, parquet.Compression(&parquet.Snappy),
		parquet.MaxRowsPerRowGroup(suspectGroup))
	rows := make([]Finding, 0, 1024)
	for at, s := range suspects {
		f := in.Finding(at, s)
		if err := f.checkText(); err != nil {
			return err
		}
		rows = append(rows, f)
		if len(rows) == cap(rows) || at == len(suspects)-1 {
			if _, err := w.Write(rows); err != nil {
				return err
			}
			rows = rows[:0]
		}
	}
	return w.Close()
}

// checkText refuses names that are not UTF-8, which text in JSON and Parquet must be.
func (f *Finding) checkText() error {
	for _, name := range []string{f.ID, f.Word} {
		if !utf8.ValidString(name) {
			return fmt.Errorf(
				"suspect %d: the name %.60q is not UTF-8; rename it, or write a .csv, which takes any bytes",
				f.Rank, name)
		}
	}
	return nil
}
