package rows

import (
	"cmp"
	"slices"

	"nmn/labels"
	"nmn/labels/audit/neighbours"
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
	Scores []Score
	// Neighbours are the neighbours in the space of features; nil if there are none.
	Neighbours *neighbours.Result
	IDs, Words []string // names of rows and classes; nil for their numbers, counted from 1
	// Kind is how the worst label of a row would be wrong.
	Kind func(row int) string

	order    []int32
	conflict []bool // for each group of near-duplicates
}

// Rank puts the rows in the order of their quality, the lowest first; equal ones stay in their order, and rows
// without an audited label come last. same reports whether two rows have the same labels, to find near-duplicates
// that have not.
func (t *Table) Rank(same func(i, j int) bool) {
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
	if t.Neighbours != nil {
		t.conflict = make([]bool, len(t.Neighbours.Groups))
		for _, g := range t.Neighbours.Conflicts(same) {
			t.conflict[g] = true
		}
	}
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
	// Outlier and what follows comes from features; Score is 1 amid others and 0 far away, and Mean is the distance to
	// the neighbours.
	Outlier  *bool    `json:"outlier,omitempty" parquet:"outlier,optional"`
	Score    *float64 `json:"outlier_score,omitempty" parquet:"outlier_score,optional"`
	Mean     *float64 `json:"mean_distance,omitempty" parquet:"mean_distance,optional"`
	Nearest  *string  `json:"nearest,omitempty" parquet:"nearest,optional"` // the row that is nearest
	Distance *float64 `json:"nearest_distance,omitempty" parquet:"nearest_distance,optional"`
	// Group is the number of its group of near-duplicates, from 1; Exact reports whether another row has the same
	// features, and Conflict whether the labels of the group differ.
	Group    *int64 `json:"duplicates,omitempty" parquet:"duplicates,optional"`
	Exact    *bool  `json:"exact,omitempty" parquet:"exact,optional"`
	Conflict *bool  `json:"conflict,omitempty" parquet:"conflict,optional"`
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
	if t.Neighbours == nil {
		return r
	}
	n := &t.Neighbours.Rows[i]
	nearest := t.id(n.Nearest)
	r.Outlier, r.Score, r.Mean = &n.Outlier, &n.Score, &n.Mean
	r.Nearest, r.Distance = &nearest, &n.Distance
	if n.Group >= 0 {
		group := int64(n.Group) + 1
		r.Group, r.Exact, r.Conflict = &group, &n.Exact, &t.conflict[n.Group]
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

// Group is a group of near-duplicates by the names of its rows.
type Group struct {
	Rows     []string `json:"rows"`
	Exact    bool     `json:"exact"`    // all have the same features
	Conflict bool     `json:"conflict"` // their labels differ
}

// Groups are the first groups of near-duplicates, those whose labels differ before the others.
func (t *Table) Groups(most int) []Group {
	if t.Neighbours == nil {
		return nil
	}
	var out []Group
	for _, conflict := range []bool{true, false} {
		for g, group := range t.Neighbours.Groups {
			if len(out) == most {
				return out
			}
			if t.conflict[g] == conflict {
				named := Group{Exact: group.Exact, Conflict: conflict}
				for _, i := range group.Rows {
					named.Rows = append(named.Rows, t.id(i))
				}
				out = append(out, named)
			}
		}
	}
	return out
}

// Summary counts what was found.
type Summary struct {
	Rows         int      `json:"rows"`
	Labels       int      `json:"labels"`                    // that were audited
	Suspects     int      `json:"suspects"`                  // labels that are probably wrong
	SuspectRows  int      `json:"rows_with_suspects"`        // rows with one or more of them
	Outliers     *int     `json:"outliers,omitempty"`        // the rest is absent without features
	Duplicates   *int     `json:"near_duplicates,omitempty"` // rows in groups
	Exact        *int     `json:"exact_duplicates,omitempty"`
	Groups       *int     `json:"groups,omitempty"`
	Conflicts    *int     `json:"groups_with_conflicts,omitempty"`
	Metric       string   `json:"metric,omitempty"`
	OutlierAbove *float64 `json:"outlier_above,omitempty"` // mean distance
	NearBelow    *float64 `json:"near_below,omitempty"`    // distance
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
	n := t.Neighbours
	if n == nil {
		return s
	}
	duplicates, groups, exact, conflicts := n.Duplicates(), len(n.Groups), 0, 0
	for i := range n.Rows {
		if n.Rows[i].Exact {
			exact++
		}
	}
	for _, c := range t.conflict {
		if c {
			conflicts++
		}
	}
	s.Outliers, s.Duplicates, s.Exact, s.Groups, s.Conflicts = &n.Outliers, &duplicates, &exact, &groups, &conflicts
	s.Metric, s.OutlierAbove, s.NearBelow = string(n.Metric), &n.OutlierAbove, &n.DuplicateBelow
	return s
}
