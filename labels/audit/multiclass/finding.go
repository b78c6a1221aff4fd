package multiclass

import (
	"encoding/binary"
	"io"
	"math"
	"strconv"

	"nmn/format/npy"
	"nmn/format/records"
	"nmn/labels"
)

// Finding is a suspect with names in place of numbers. It is a row of the ranked list in every format.
type Finding struct {
	ID        string  `json:"id" parquet:"id"`
	Given     string  `json:"given" parquet:"given,dict"`
	Suggested string  `json:"suggested" parquet:"suggested,dict"`
	Wrong     float64 `json:"p_wrong" parquet:"p_wrong"`
	P         float64 `json:"p_suggested" parquet:"p_suggested"`
	Rank      int64   `json:"rank" parquet:"rank"` // from 1
}

// Finding names the suspect at a place of the ranked list, counted from 0.
func (r *Report) Finding(at int) Finding {
	s := r.Suspects[at]
	return Finding{ID: r.ID(int(s.Row)), Given: r.Word(int(s.Given)), Suggested: r.Word(int(s.Suggested)), Wrong: s.Wrong,
		P: s.P, Rank: int64(at) + 1}
}

// WriteSuspectsFile writes the ranked list as a table, one row for each suspect, in the format that the ending of
// the name decides: one of audit.SuspectFormats. An array has the row and the classes as numbers from 0.
func (r *Report) WriteSuspectsFile(path string) error {
	rows := func(yield func(Finding, error) bool) {
		for at := range r.Suspects {
			f := r.Finding(at)
			if !yield(f, records.CheckText("suspect", f.Rank, f.ID, f.Given, f.Suggested)) {
				return
			}
		}
	}
	return records.Writer{
		CSV:     r.writeSuspects,
		Lines:   func(out io.Writer) error { return records.Lines(out, rows) },
		Parquet: func(out io.Writer) error { return records.Parquet(out, rows) },
		Array:   r.writeSuspectArray,
	}.WriteFile(path, "suspects")
}

func (r *Report) writeSuspects(out io.Writer) error {
	columns := []string{"id", "given", "suggested", "p_wrong", "p_suggested", "rank"}
	return records.CSV(out, columns, func(yield func([]string, error) bool) {
		for at := range r.Suspects {
			f := r.Finding(at)
			if !yield([]string{f.ID, f.Given, f.Suggested, labels.Digits(f.Wrong), labels.Digits(f.P),
				strconv.FormatInt(f.Rank, 10)}, nil) {
				return
			}
		}
	})
}

func (r *Report) writeSuspectArray(out io.Writer) error {
	fields := []npy.Field{{Name: "row", Type: "<i4"}, {Name: "given", Type: "<i4"}, {Name: "suggested", Type: "<i4"},
		{Name: "p_wrong", Type: "<f8"}, {Name: "p_suggested", Type: "<f8"}}
	return npy.WriteTable(out, fields, len(r.Suspects), func(data []byte, i int) []byte {
		s := &r.Suspects[i]
		data = binary.LittleEndian.AppendUint32(data, uint32(s.Row))
		data = binary.LittleEndian.AppendUint32(data, uint32(s.Given))
		data = binary.LittleEndian.AppendUint32(data, uint32(s.Suggested))
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(s.Wrong))
		return binary.LittleEndian.AppendUint64(data, math.Float64bits(s.P))
	})
}
