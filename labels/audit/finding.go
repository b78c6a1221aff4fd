package audit

import (
	"encoding/binary"
	"io"
	"math"
	"strconv"

	"nmn/format/npy"
	"nmn/format/records"
	"nmn/labels"
)

// Finding is a suspect with names in place of numbers. It is a row of the
// ranked list in every format.
type Finding struct {
	ID    string  `json:"id" parquet:"id"`
	Word  string  `json:"class" parquet:"class,dict"`
	Kind  Kind    `json:"kind" parquet:"kind,dict"`
	Given uint8   `json:"given" parquet:"given"`     // the label z
	Wrong float64 `json:"p_wrong" parquet:"p_wrong"` // probability that it is wrong
	P     float64 `json:"p" parquet:"p"`             // p(y=1|I), without the label
	Q01   float64 `json:"q01" parquet:"q01"`         // noise rates of the class
	Q10   float64 `json:"q10" parquet:"q10"`
	Rank  int64   `json:"rank" parquet:"rank"`        // from 1; probabilities near 1 may be equal where ranks are not
	Rates string  `json:"rates" parquet:"rates,dict"` // OwnRates or PooledRates
}

// Whose rates a suspect is ranked by.
const (
	OwnRates = "own" // the rates of its class
	// by the noise of the other classes, because its class has no rates of its own: nothing is claimed for it
	PooledRates = "pooled"
)

// Finding names the suspect at a place of the ranked list, counted from 0.
func (in *Input) Finding(at int, s Suspect) Finding {
	return Finding{
		ID: in.ID(int(s.Bag)), Word: in.Word(int(s.Class)), Kind: s.Kind(), Given: s.Given, Wrong: s.Error(), P: s.P,
		Q01: in.Rates.Q01[s.Class], Q10: in.Rates.Q10[s.Class], Rank: int64(at) + 1,
		Rates: in.ratesOf(int(s.Class)),
	}
}

// ratesOf names the origin of a class's rates.
func (in *Input) ratesOf(class int) string {
	if in.IsPooled(class) {
		return PooledRates
	}
	return OwnRates
}

// SuspectFormats are the endings of files of suspects.
var SuspectFormats = append(records.Formats(), ".npy")

// WriteSuspectsFile writes the ranked list as a table, one row for each suspect, in the format that the
// ending of the name decides: one of SuspectFormats. Rows are written as they are made, and the file
// appears when it is whole. A Parquet table has text as UTF-8, with classes and kinds as dictionaries, given as an
// unsigned byte, probabilities as doubles, and rank as a 64-bit integer; no column has nulls. An array has
// SuspectFields, numbers alone.
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
		Array:   func(out io.Writer) error { return writeSuspectArray(out, &in, suspects) },
	}.WriteFile(path, "suspects")
}

// SuspectFields are the fields of an array of suspects: the bag and the class, counted from 0 in the order of
// the scores, the probability that the label is wrong, p(y=1|I) without the label, the label, and whether the
// rates are pooled.
func SuspectFields() []npy.Field {
	return []npy.Field{{Name: "row", Type: "<i4"}, {Name: "class", Type: "<i4"}, {Name: "p_wrong", Type: "<f8"},
		{Name: "p", Type: "<f8"}, {Name: "given", Type: "|u1"}, {Name: "pooled", Type: "|b1"}}
}

// writeSuspectArray writes suspects as a structured array, the surest first.
func writeSuspectArray(out io.Writer, in *Input, suspects []Suspect) error {
	return npy.WriteTable(out, SuspectFields(), len(suspects), func(data []byte, i int) []byte {
		s := &suspects[i]
		data = binary.LittleEndian.AppendUint32(data, uint32(s.Bag))
		data = binary.LittleEndian.AppendUint32(data, uint32(s.Class))
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(s.Error()))
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(s.P))
		pooled := byte(0)
		if in.IsPooled(int(s.Class)) {
			pooled = 1
		}
		return append(data, s.Given, pooled)
	})
}

// WriteSuspects writes suspects as CSV, the surest first.
func WriteSuspects(out io.Writer, in Input, suspects []Suspect) error {
	columns := []string{"id", "class", "kind", "given", "p_wrong", "p", "q01", "q10", "rank", "rates"}
	return records.CSV(out, columns, func(yield func([]string, error) bool) {
		for at, s := range suspects {
			f := in.Finding(at, s)
			record := []string{f.ID, f.Word, string(f.Kind), strconv.Itoa(int(f.Given)), labels.Digits(f.Wrong),
				labels.Digits(f.P),
				labels.Digits(f.Q01), labels.Digits(f.Q10), strconv.FormatInt(f.Rank, 10), f.Rates}
			if !yield(record, nil) {
				return
			}
		}
	})
}
