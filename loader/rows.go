package loader

import (
	"context"
	"errors"
	"slices"
	"strconv"

	dense "gorgonia.org/tensor"

	"nmn/internal/parallel"
)

// Rows reads, one bag at a time, the data that a Set's IDs and matrices hold for all bags. It must be safe
// for concurrent use.
type Rows interface {
	// Len is the number of bags.
	Len() int
	// KnowsTruth reports whether rows have true labels. Row.Known reports it for a single row.
	KnowsTruth() bool
	// Read fills row, whose memory it uses again. An error is about the file of labels as a whole, unless it
	// wraps ErrCorrupt: then it is about this bag.
	Read(ctx context.Context, bag int, row *Row) error
}

// Row is a set's data on one bag, without the zeros. Lists of classes ascend.
type Row struct {
	ID       string
	Labels   []int32   // classes whose observed label is 1
	Unknown  []int32   // classes whose observed label is unknown
	Counts   []Mention // counts of the classes that captions mention; none if labels are not from captions
	Captions [][]int32 // classes that each caption mentions, not to be changed; nil where labels are not from captions
	Truth    []int32   // classes whose true label is 1
	Known    bool      // that the true labels are known
}

// Mention is how many captions of a bag mention a class.
type Mention struct {
	Class    int32
	Captions uint8
}

// KnowsTruth reports whether the true labels of the bags are known.
func (s *Set) KnowsTruth() bool { return s.Truth != nil || s.Rows != nil && s.Rows.KnowsTruth() }

// WithRows is the set with the labels of other rows, of the same bags.
func (s *Set) WithRows(rows Rows) *Set {
	other := *s
	other.Rows, other.survey = rows, &survey{}
	return &other
}

// Row returns the data on a bag, from memory or from its Rows.
func (s *Set) Row(ctx context.Context, bag int, row *Row) error {
	if s.Rows != nil {
		return s.Rows.Read(ctx, bag, row)
	}
	row.ID, row.Captions = s.IDs[bag], nil
	if s.Captions != nil {
		row.Captions = s.Captions[bag]
	}
	row.Labels, row.Unknown, row.Truth, row.Known = row.Labels[:0], row.Unknown[:0], row.Truth[:0], s.Truth != nil
	for class, z := range matrixRow(s.Labels, bag) {
		switch z {
		case 0:
		case UnknownLabel:
			row.Unknown = append(row.Unknown, int32(class))
		default:
			row.Labels = append(row.Labels, int32(class))
		}
	}
	for class, y := range matrixRow(s.Truth, bag) {
		if y != 0 {
			row.Truth = append(row.Truth, int32(class))
		}
	}
	row.Counts = row.Counts[:0]
	for class, n := range matrixRow(s.Counts, bag) {
		if n != 0 {
			row.Counts = append(row.Counts, Mention{int32(class), n})
		}
	}
	return nil
}

// matrixRow returns the row of a bag, empty if there is no matrix.
func matrixRow(m *dense.Dense, bag int) []uint8 {
	if m == nil {
		return nil
	}
	k := m.Shape()[1]
	return m.Uint8s()[bag*k : (bag+1)*k]
}

// blank makes the row of an unreadable bag: it has a name and no labels.
func (r *Row) blank(bag int) {
	*r = Row{ID: "sample " + strconv.Itoa(bag), Labels: r.Labels[:0], Counts: r.Counts[:0], Truth: r.Truth[:0]}
}

// rowsAhead is how many rows are read side by side in a pass over all.
const rowsAhead = 1024

// walker are Rows that go over all bags faster than one by one.
type walker interface {
	walk(ctx context.Context, visit func(bag int, row *Row) error) error
}

// EachRow visits the rows of all bags in order, in memory that does not depend on their number; the row is
// good until visit returns. A bag that cannot be used, which costs that bag alone when it is loaded, has a
// row without labels.
func (s *Set) EachRow(ctx context.Context, visit func(bag int, row *Row) error) error {
	if w, ok := s.Rows.(walker); ok {
		return w.walk(ctx, visit)
	}
	rows, errs := make([]Row, min(rowsAhead, s.Len())), make([]error, min(rowsAhead, s.Len()))
	for from := 0; from < s.Len(); from += len(rows) {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := rows[:min(len(rows), s.Len()-from)]
		parallel.Each(len(part), func(i int) { errs[i] = s.Row(ctx, from+i, &part[i]) })
		for i := range part {
			switch {
			case errors.Is(errs[i], ErrCorrupt):
				part[i].blank(from + i)
			case errs[i] != nil:
				return errs[i]
			}
			if err := visit(from+i, &part[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// LabelsAsTruth returns the set with its labels as the true labels too, unless it already has true ones.
// Noise that is injected later leaves the true labels as they are.
func (s *Set) LabelsAsTruth() *Set {
	if s.KnowsTruth() {
		return s
	}
	if s.Rows != nil {
		return s.WithRows(truthRows{s.Rows, func(row *Row) {
			row.Truth, row.Known = append(row.Truth[:0], row.Labels...), true
		}})
	}
	known := *s
	known.Truth = known.Labels
	return &known
}

// TruthAsLabels returns the set with its true labels in place of its labels. The set must have them.
func (s *Set) TruthAsLabels() *Set {
	relabelled := *s
	if s.Rows != nil {
		relabelled = *s.WithRows(truthRows{s.Rows, func(row *Row) { row.Labels = append(row.Labels[:0], row.Truth...) }})
	}
	relabelled.Name, relabelled.Labels, relabelled.CaptionsInUse = s.Name+", true labels", s.Truth, nil
	return &relabelled
}

// truthRows are rows with true labels, made of others by change.
type truthRows struct {
	Rows
	change func(*Row)
}

func (r truthRows) Read(ctx context.Context, bag int, row *Row) error {
	err := r.Rows.Read(ctx, bag, row)
	r.change(row)
	return err
}

func (truthRows) KnowsTruth() bool { return true }

// HeldBytes is the memory that the labels of a set would take once they are held: two or three matrices of
// bags by classes, captions aside.
func (s *Set) HeldBytes() int64 { return 3 * int64(s.Len()) * int64(s.Vocabulary.Len()) }

// Hold reads the labels of a set with Rows into memory. Its epochs equal the epochs of the set with Rows:
// training does not depend on where the labels are. A set with its labels in memory is returned as it is.
func Hold(ctx context.Context, s *Set) (*Set, error) {
	if s.Rows == nil {
		return s, nil
	}
	n, k := s.Len(), s.Vocabulary.Len()
	blank := func() *dense.Dense { return Matrix(make([]uint8, n*k), k) }
	held := *s
	held.Rows, held.survey = nil, nil
	held.IDs, held.Labels = make([]string, n), blank()
	captions, mentioned := make([][][]int32, n), s.CaptionsPerSample > 0
	if s.KnowsTruth() {
		held.Truth = blank()
	}
	if s.CaptionsPerSample > 0 {
		held.Counts = blank()
	}
	err := s.EachRow(ctx, func(bag int, row *Row) error {
		held.IDs[bag] = row.ID
		labels := matrixRow(held.Labels, bag)
		for _, class := range row.Labels {
			labels[class] = 1
		}
		for _, of := range row.Counts {
			matrixRow(held.Counts, bag)[of.Class] = of.Captions
		}
		for _, class := range row.Truth {
			matrixRow(held.Truth, bag)[class] = 1
		}
		mentioned = mentioned && (row.Captions != nil || len(row.Counts) == 0)
		captions[bag] = slices.Clone(row.Captions)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if mentioned {
		held.Captions = captions
	}
	return &held, nil
}
