package rows

import (
	"math"

	"nmn/format/records"
)

// element is a row of an array. The quality and the probability that the worst label is wrong are NaN if no class is
// audited. Classes and rows are counted from 0, with -1 for no class, and ranks from 1.
type element struct {
	Quality   float64 `npy:"quality"`
	Wrong     float64 `npy:"p_wrong"`
	Class     int32   `npy:"class"` // of the worst label
	Suggested int32   `npy:"suggested"`
	Suspects  int32   `npy:"suspects"`
	Rank      int32   `npy:"rank"`
}

// WriteFile writes the rows in the order of their rank, in one of Formats. The columns are the fields of [Row]; unknown
// values are empty, or absent in JSON lines. An array has the rows in the order of the scores instead, with numbers
// instead of names.
func (t *Table) WriteFile(path string) error {
	ranks := make([]int32, t.Len())
	for at, i := range t.order {
		ranks[i] = int32(at) + 1
	}
	plain := func(i int) element {
		s := &t.Scores[i]
		e := element{Quality: s.Quality, Wrong: s.Wrong, Class: s.Worst, Suggested: s.Suggested, Suspects: s.Suspects,
			Rank: ranks[i]}
		if s.Worst < 0 {
			e.Quality, e.Wrong = math.NaN(), math.NaN()
		}
		return e
	}
	row := func(rank int) (Row, error) {
		r := t.Row(rank)
		return r, records.CheckText("row", r.Rank, r.ID, r.Word, r.Suggest)
	}
	return List[Row, element]{What: "rows", N: t.Len(), Row: row, Element: plain}.WriteFile(path)
}
