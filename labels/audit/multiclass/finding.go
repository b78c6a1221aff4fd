package multiclass

import (
	"nmn/format/records"
	"nmn/labels/audit/rows"
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

// element is a suspect in an array, with the row and the classes as numbers from 0.
type element struct {
	Row       int32   `npy:"row"`
	Given     int32   `npy:"given"`
	Suggested int32   `npy:"suggested"`
	Wrong     float64 `npy:"p_wrong"`
	P         float64 `npy:"p_suggested"`
}

// WriteSuspectsFile writes the ranked list as a table, one row for each suspect, in the format that the ending of
// the name decides: one of audit.SuspectFormats.
func (r *Report) WriteSuspectsFile(path string) error {
	return rows.List[Finding, element]{What: "suspects", N: len(r.Suspects), Row: func(at int) (Finding, error) {
		f := r.Finding(at)
		return f, records.CheckText("suspect", f.Rank, f.ID, f.Given, f.Suggested)
	}, Element: func(at int) element {
		s := &r.Suspects[at]
		return element{Row: s.Row, Given: s.Given, Suggested: s.Suggested, Wrong: s.Wrong, P: s.P}
	}}.WriteFile(path)
}
