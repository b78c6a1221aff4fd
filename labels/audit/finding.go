package audit

import (
	"io"
	"strconv"

	"nmn/format/records"
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
var SuspectFormats = records.Formats()

// WriteSuspectsFile writes the ranked list as a table, one row for each suspect, in the format that the
// ending of the name decides: one of SuspectFormats. Rows are written as they are made, and the file
// appears when it is whole. A Parquet table has text as UTF-8, with words and kinds as dictionaries, given as an
// unsigned byte, probabilities as doubles, and rank as a 64-bit integer; no column has nulls.
func WriteSuspectsFile(path string, in Input, suspects []Suspect) error {
	rows := func(yield func(Finding, error) bool) {
		for at, s := range suspects {
			f := in.Finding(at, s)
			if !yield(f, records.CheckText("suspect", f.Rank, f.ID, f.Word)) {
				return
			}
		}
	}
	return records.Writer{
		CSV:     func(out io.Writer) error { return WriteSuspects(out, in, suspects) },
		Lines:   func(out io.Writer) error { return records.Lines(out, rows) },
		Parquet: func(out io.Writer) error { return records.Parquet(out, rows) },
	}.WriteFile(path, "suspects")
}

// WriteSuspects writes suspects as CSV, the surest first.
func WriteSuspects(out io.Writer, in Input, suspects []Suspect) error {
	columns := []string{"id", "word", "kind", "given", "p_wrong", "p", "q01", "q10", "rank", "rates"}
	return records.CSV(out, columns, func(yield func([]string, error) bool) {
		for at, s := range suspects {
			f := in.Finding(at, s)
			record := []string{f.ID, f.Word, string(f.Kind), strconv.Itoa(int(f.Given)), digits(f.Wrong), digits(f.P),
				digits(f.Q01), digits(f.Q10), strconv.FormatInt(f.Rank, 10), f.Rates}
			if !yield(record, nil) {
				return
			}
		}
	})
}
