package neighbours

import (
	"math"
	"slices"
)

// Result describes the neighbours of N rows.
type Result struct {
	Metric Metric
	Rows   []Row
	// OutlierAbove is the mean distance above which a row is an outlier, and DuplicateBelow the distance below which two
	// rows are near-duplicates.
	OutlierAbove, DuplicateBelow float64
	Outliers                     int
	Groups                       []Group
}

// Row describes one row by its neighbours.
type Row struct {
	Nearest  int     // the row that is nearest
	Distance float64 // to it
	Mean     float64 // distance to the k nearest
	// Score is exp(-Mean/median of all Mean): 1 in the midst of others, 0 far away from all.
	Score   float64
	Outlier bool
	Group   int  // number in Result.Groups, -1 for none
	Exact   bool // another row has the same features
}

// Group are rows that are near-duplicates of each other, or of others in between; each row is in one at most.
type Group struct {
	Rows []int // ascending
	// Exact reports whether all of them are equal.
	Exact bool
}

// result draws the conclusions: with d̄ the mean distance of a row to its k nearest, Q1 and Q3 the quartiles of all
// d̄,
//
//	outlier         d̄ > Q3 + 1.7 (Q3 - Q1)
//	near-duplicate  d < Duplicate median(d of the nearest), to any of the k nearest
func (s *search) result(o Options) *Result {
	r := &Result{Metric: s.metric, Rows: make([]Row, s.n)}
	means, nearest := make([]float64, s.n), make([]float64, s.n)
	for i := range r.Rows {
		own, sum := s.nearest[i*s.k:(i+1)*s.k], 0.0
		for _, e := range own {
			sum += e.distance
		}
		means[i], nearest[i] = sum/float64(s.k), own[0].distance
		r.Rows[i] = Row{Nearest: int(own[0].row), Distance: nearest[i], Mean: means[i], Group: -1}
	}
	slices.Sort(means)
	slices.Sort(nearest)
	q1, q3 := quantile(means, .25), quantile(means, .75)
	r.OutlierAbove, r.DuplicateBelow = q3+outlierRanges*(q3-q1), o.Duplicate*quantile(nearest, .5)
	scale := max(quantile(means, .5), 0x1p-40)
	for i := range r.Rows {
		row := &r.Rows[i]
		row.Score = math.Exp(-row.Mean / scale)
		if row.Outlier = row.Mean > r.OutlierAbove; row.Outlier {
			r.Outliers++
		}
	}
	s.group(r)
	return r
}

// quantile interpolates between sorted values.
func quantile(sorted []float64, share float64) float64 {
	at := share * float64(len(sorted)-1)
	below := int(at)
	if below+1 == len(sorted) {
		return sorted[below]
	}
	return sorted[below] + (at-float64(below))*(sorted[below+1]-sorted[below])
}

func (s *search) group(r *Result) {
	parent := make([]int, s.n)
	for i := range parent {
		parent[i] = i
	}
	root := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	join := func(i, j int) { // the first row of a group is its root
		a, b := root(i), root(j)
		parent[max(a, b)] = min(a, b)
	}
	for i := range s.n {
		if first := int(s.exact[i]); first != i {
			r.Rows[i].Exact, r.Rows[first].Exact = true, true
			join(i, first)
		}
		for _, e := range s.nearest[i*s.k : (i+1)*s.k] {
			if e.distance >= r.DuplicateBelow {
				break
			}
			join(i, int(e.row))
		}
	}
	members := make(map[int][]int)
	for i := range s.n {
		if at := root(i); at != i {
			if members[at] == nil {
				members[at] = []int{at}
			}
			members[at] = append(members[at], i)
		}
	}
	for i := range s.n {
		rows := members[i]
		if rows == nil {
			continue
		}
		exact := !slices.ContainsFunc(rows, func(j int) bool { return s.exact[j] != s.exact[i] })
		for _, j := range rows {
			r.Rows[j].Group = len(r.Groups)
		}
		r.Groups = append(r.Groups, Group{rows, exact})
	}
}

// Conflicts are the numbers of the groups whose rows do not all have the same labels.
func (r *Result) Conflicts(same func(i, j int) bool) []int {
	var out []int
	for g, group := range r.Groups {
		if slices.ContainsFunc(group.Rows[1:], func(i int) bool { return !same(group.Rows[0], i) }) {
			out = append(out, g)
		}
	}
	return out
}

// Duplicates is the number of rows in groups.
func (r *Result) Duplicates() (n int) {
	for _, g := range r.Groups {
		n += len(g.Rows)
	}
	return n
}
