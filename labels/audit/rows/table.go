package rows

import (
	"cmp"
	"slices"

	"nmn/labels"
)

// Score is the result of an audit for a row.
type Score struct {
	Quality  float64 // 0 to 1: how well all labels fit; meaningless if Worst is negative
	Suspects int32   // labels that are probably wrong
	Worst    int32   // the class whose label is most probably wrong; -1 if no class is audited
	Wrong    float64 // the probability that it is
	// Suggested is the class that the row probably belongs to, where classes exclude each other; else -1.
	Suggested int32
}

// Table holds the scores of N rows.
type Table struct {
	Scores     []Score
	IDs, Words []string // names of rows and classes; nil for their numbers, counted from 1
	// Kind is how the worst label of a row would be wrong.
	Kind func(row int) string

	order []int32
}

// Rank puts the rows in the order of their quality, the lowest first; equal ones stay in their order, and rows
// without an audited label come last.
func (t *Table) Rank() {
	t.order = make([]int32, len(t.Scores))
	for i := range t.order {
		t.order[i] = int32(i)
	}
	slices.SortFunc(t.order, func(i, j int32) int {
		a, b := &t.Scores[i], &t.Scores[j]
		if known := a.Worst >= 0; known != (b.Worst >= 0) {
			if known {
				return -1
			}
			return 1
		} else if !known {
			return cmp.Compare(i, j)
		}
		return cmp.Or(cmp.Compare(a.Quality, b.Quality), cmp.Compare(i, j))
	})
}

// Len is the number of rows.
func (t *Table) Len() int { return len(t.Scores) }

// Row is a row with names instead of numbers, as in files. Unknown values are absent.
type Row struct {
	ID   string `json:"id" parquet:"id"`
	Rank int64  `json:"rank" parquet:"rank"` // from 1
	// Quality is absent if no class is audited.
	Quality  *float64 `json:"quality,omitempty" parquet:"quality,optional"`
	Suspects int64    `json:"suspects" parquet:"suspects"` // labels that are probably wrong
	// Word is the class whose label is most probably wrong, Kind how it would be, and Wrong how probably it is.
	Word  string   `json:"class,omitempty" parquet:"class,dict"`
	Kind  string   `json:"kind,omitempty" parquet:"kind,dict"`
	Wrong *float64 `json:"p_wrong,omitempty" parquet:"p_wrong,optional"`
	// Suggest is the class that the row probably belongs to, where classes exclude each other and it is another one.
	Suggest string `json:"suggested,omitempty" parquet:"suggested,dict"`
}

// Row is the row of a rank, counted from 0.
func (t *Table) Row(rank int) Row {
	i := int(t.order[rank])
	s := &t.Scores[i]
	r := Row{ID: t.id(i), Rank: int64(rank) + 1, Suspects: int64(s.Suspects)}
	if s.Worst >= 0 {
		r.Quality, r.Wrong = &s.Quality, &s.Wrong
		r.Word, r.Kind = labels.Name(t.Words, int(s.Worst)), t.Kind(i)
	}
	if s.Suggested >= 0 {
		r.Suggest = labels.Name(t.Words, int(s.Suggested))
	}
	return r
}

// Top are the first rows of the ranking.
func (t *Table) Top(n int) []Row {
	out := make([]Row, 0, min(n, t.Len()))
	for rank := range min(n, t.Len()) {
		out = append(out, t.Row(rank))
	}
	return out
}

func (t *Table) id(row int) string { return labels.Name(t.IDs, row) }

// Summary counts what was found.
type Summary struct {
	Rows        int `json:"rows"`
	Labels      int `json:"labels"`             // that were audited
	Suspects    int `json:"suspects"`           // labels that are probably wrong
	SuspectRows int `json:"rows_with_suspects"` // rows with one or more of them
}

// Summary counts; labels is the number of labels that were audited.
func (t *Table) Summary(labels int) Summary {
	s := Summary{Rows: t.Len(), Labels: labels}
	for i := range t.Scores {
		if n := int(t.Scores[i].Suspects); n > 0 {
			s.Suspects += n
			s.SuspectRows++
		}
	}
	return s
}
