package neighbours

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"nmn/internal/parallel"
)

// Rows are N feature vectors of D numbers, as package features reads them.
type Rows interface {
	Len() int
	Width() int
	Read(i int, dst []float32) error
}

// search holds the rows as they are compared.
type search struct {
	n, d    int
	k       int
	metric  Metric
	x       []float32 // N×D: scaled to length 1 for Cosine, less their mean for Euclidean
	zero    []bool    // rows of zeros, for Cosine
	exact   []int32   // for each row the first one that is equal to it
	bias    []float32 // -|x|²/2 for Euclidean, nil for Cosine
	nearest []near    // N×k, ascending
}

// near is a neighbour.
type near struct {
	row      int32
	distance float64
}

// compareNear has the nearest first, and of equally near ones the first row.
func compareNear(a, b near) int {
	return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.row, b.row))
}

// Find finds the neighbours of N rows, at least 2, and what follows from them. It takes memory for the rows as
// float32. Results do not depend on the number of processors. It ends with the error of ctx once that is done; others
// wrap ErrValue or ErrCost, or come from rows.
func Find(ctx context.Context, rows Rows, o Options) (*Result, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	s, err := newSearch(ctx, rows, o)
	if err != nil {
		return nil, err
	}
	find := s.byProducts
	if s.d <= direct {
		find = s.oneByOne
	}
	if err := find(ctx, &parallel.Progress{Report: o.Progress}); err != nil {
		return nil, fmt.Errorf("neighbours: %w", err)
	}
	return s.result(o), nil
}

func newSearch(ctx context.Context, rows Rows, o Options) (*search, error) {
	n, d := rows.Len(), rows.Width()
	if n < 2 || d < 1 || n > math.MaxInt32 {
		return nil, fmt.Errorf("neighbours: %d rows × %d features, want at least 2 rows: %w", n, d, ErrValue)
	}
	if err := o.checkCost(n, d); err != nil {
		return nil, err
	}
	s := &search{n: n, d: d, k: min(o.K, n-1), metric: o.metric(d)}
	if err := s.read(ctx, rows); err != nil {
		return nil, err
	}
	s.nearest = make([]near, n*s.k)
	return s, nil
}

// read reads the rows, finds equal ones, and brings them into the form that they are compared in.
func (s *search) read(ctx context.Context, rows Rows) error {
	s.x = make([]float32, s.n*s.d)
	for i := range s.n {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		row := s.row(i)
		if err := rows.Read(i, row); err != nil {
			return err
		}
		for c, v := range row {
			if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
				return fmt.Errorf("neighbours: row %d, feature %d is %v, want a finite number: %w", i+1, c+1, v, ErrValue)
			}
			row[c] = v + 0 // -0 becomes 0
		}
	}
	s.findEqual()
	if s.metric == Cosine {
		s.toUnitLength()
	} else {
		s.center()
	}
	return nil
}

func (s *search) row(i int) []float32 { return s.x[i*s.d : (i+1)*s.d : (i+1)*s.d] }

func (s *search) findEqual() {
	s.exact = make([]int32, s.n)
	first := make(map[uint64][]int32, s.n)
	for i := range s.n {
		row, hash := s.row(i), uint64(14695981039346656037)
		for _, v := range row {
			hash = (hash ^ uint64(math.Float32bits(v))) * 1099511628211
		}
		s.exact[i] = int32(i)
		at := slices.IndexFunc(first[hash], func(j int32) bool { return slices.Equal(s.row(int(j)), row) })
		if at < 0 {
			first[hash] = append(first[hash], int32(i))
		} else {
			s.exact[i] = first[hash][at]
		}
	}
}

func (s *search) toUnitLength() {
	s.zero = make([]bool, s.n)
	for i := range s.n {
		row, squares := s.row(i), 0.0
		for _, v := range row {
			squares += float64(v) * float64(v)
		}
		if s.zero[i] = squares == 0; s.zero[i] {
			continue
		}
		scale := 1 / math.Sqrt(squares)
		for c, v := range row {
			row[c] = float32(float64(v) * scale)
		}
	}
}

// center moves the mean to 0, where products have the most precision.
func (s *search) center() {
	mean := make([]float64, s.d)
	for i := range s.n {
		for c, v := range s.row(i) {
			mean[c] += float64(v) / float64(s.n)
		}
	}
	s.bias = make([]float32, s.n)
	for i := range s.n {
		row, squares := s.row(i), 0.0
		for c, v := range row {
			row[c] = float32(float64(v) - mean[c])
			squares += float64(row[c]) * float64(row[c])
		}
		s.bias[i] = float32(-squares / 2)
	}
}

// distance returns the distance of two rows in float64. For rows of length 1 the cosine is 1 - |x - y|²/2,
// which loses no digits when rows are close.
func (s *search) distance(i, j int) float64 {
	if s.exact[i] == s.exact[j] {
		return 0
	}
	if s.metric == Cosine && (s.zero[i] || s.zero[j]) {
		return 1
	}
	squares, y := 0.0, s.row(j)
	for c, v := range s.row(i) {
		gap := float64(v) - float64(y[c])
		squares += gap * gap
	}
	if s.metric == Cosine {
		return squares / 2
	}
	return math.Sqrt(squares)
}

// directRows are rows that a goroutine compares one by one.
const directRows = 64

// oneByOne holds every row against all others.
func (s *search) oneByOne(ctx context.Context, progress *parallel.Progress) error {
	progress.Total = (s.n + directRows - 1) / directRows
	return parallel.Run(ctx, progress.Total, 0, func() func(int) {
		return func(block int) {
			for i := block * directRows; i < min((block+1)*directRows, s.n); i++ {
				own := s.nearest[i*s.k : i*s.k : (i+1)*s.k]
				for j := range s.n {
					if j != i {
						own = keep(own, near{int32(j), s.distance(i, j)})
					}
				}
			}
			progress.Add(1)
		}
	})
}

// keep puts a neighbour into a list that holds as many as its capacity, the nearest first.
func keep(list []near, e near) []near {
	n := len(list)
	if n == cap(list) {
		if compareNear(e, list[n-1]) >= 0 {
			return list
		}
		n--
	}
	list = list[:n+1]
	for n > 0 && compareNear(e, list[n-1]) < 0 {
		list[n] = list[n-1]
		n--
	}
	list[n] = e
	return list
}
