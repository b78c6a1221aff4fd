package table

import (
	"fmt"
	"slices"

	"nmn/text"
)

// Joined are two files about the same bags, with their rows and columns in one order.
type Joined struct {
	Bags, Classes int
	Scores        []float32 // N×K, row-major; the file's own if its columns are in order
	Counts        []uint8   // N×K, row-major; the file's own if it is an .npy of bytes in order
	Words         []string  // in class order; nil if no file names them
	IDs           []string  // names of the bags; nil if no file has them
}

// Join matches scores with counts or labels, and with a vocabulary (nil for none), by name.
//
// Columns: the classes are in the order of the vocabulary. Without one, they are in the order of the header
// of the scores, or else of the counts. The words of each header and of the vocabulary must be the same set,
// in any order. A file without a header must have its columns in the class order. Rows: in the order of the
// scores. If both files name their bags, in a column "id", the rows of the counts are matched by name and
// must be the same set. Otherwise they must be in the same order.
func Join(scores, counts *Matrix, v *text.Vocabulary) (*Joined, error) {
	if scores.Rows != counts.Rows {
		return nil, differentRows(scores, counts)
	}
	if scores.Cols != counts.Cols {
		return nil, fmt.Errorf("%s has %d classes, %s has %d: %w", scores.Name, scores.Cols, counts.Name,
			counts.Cols, ErrShape)
	}
	words, from := classOrder(scores, counts, v)
	scoreColumns, err := scores.columnsFor(words, from)
	if err != nil {
		return nil, err
	}
	countColumns, err := counts.columnsFor(words, from)
	if err != nil {
		return nil, err
	}
	rows, err := counts.rowsFor(scores)
	if err != nil {
		return nil, err
	}
	j := &Joined{Bags: scores.Rows, Classes: scores.Cols, Words: words, IDs: scores.IDs}
	if j.IDs == nil && counts.IDs != nil {
		j.IDs = counts.IDs
	}
	if j.Scores = scores.Values; scoreColumns != nil {
		j.Scores = arranged(scores, scores.Values, scores.Rows, nil, scoreColumns, func(v float32) float32 { return v })
	}
	switch {
	case counts.Counts == nil:
		j.Counts = arranged(counts, counts.Values, counts.Rows, rows, countColumns, func(v float32) uint8 { return uint8(v) })
	case rows == nil && countColumns == nil:
		j.Counts = counts.Counts
	default:
		j.Counts = arranged(counts, counts.Counts, counts.Rows, rows, countColumns, func(v uint8) uint8 { return v })
	}
	return j, nil
}

// differentRows is the error of two files about different bags. If both name their bags, it names the first
// bag that one of them lacks.
func differentRows(a, b *Matrix) error {
	err := fmt.Errorf("%s has %d rows, %s has %d: both need one for each sample: %w",
		a.Name, a.Rows, b.Name, b.Rows, ErrShape)
	if a.IDs == nil || b.IDs == nil {
		return err
	}
	if a.Rows < b.Rows {
		a, b = b, a
	}
	present := make(map[string]bool, b.Rows)
	for _, id := range b.IDs {
		present[id] = true
	}
	for i, id := range a.IDs {
		if !present[id] {
			return fmt.Errorf("%w; %s lacks %q, which is row %d of %s: take it out there, or add it here",
				err, b.Name, id, i+1, a.Name)
		}
	}
	return err
}

// classOrder returns the words in class order, nil if no file names them, and the file that named them.
func classOrder(scores, counts *Matrix, v *text.Vocabulary) (words []string, from string) {
	switch {
	case v != nil:
		for c := range v.Len() {
			words = append(words, v.Word(c).Text)
		}
		return words, "the vocabulary"
	case scores.Words != nil:
		return scores.Words, scores.Name
	default:
		return counts.Words, counts.Name
	}
}

// columnsFor returns the column of each word, or nil if the columns are in order already.
func (m *Matrix) columnsFor(words []string, from string) ([]int, error) {
	if words != nil && len(words) != m.Cols {
		return nil, fmt.Errorf("%s has %d columns for the %d classes of %s: %w", m.Name, m.Cols, len(words), from, ErrShape)
	}
	if m.Words == nil || words == nil {
		return nil, nil
	}
	if slices.Equal(m.Words, words) {
		_, err := names(m.Name, "class", m.Words)
		return nil, err
	}
	return positions(m.Name, "class", m.Words, words, from)
}

// rowsFor returns the row of m for each row of the reference, nil for the same order.
func (m *Matrix) rowsFor(reference *Matrix) ([]int, error) {
	if m.IDs == nil || reference.IDs == nil {
		return nil, nil
	}
	if _, err := names(reference.Name, "id", reference.IDs); err != nil {
		return nil, err
	}
	if slices.Equal(m.IDs, reference.IDs) {
		return nil, nil
	}
	return positions(m.Name, "id", m.IDs, reference.IDs, reference.Name)
}

// positions finds each wanted name in have, which has no repeats.
func positions(file, what string, have, want []string, from string) ([]int, error) {
	at, err := names(file, what, have)
	if err != nil {
		return nil, err
	}
	out := make([]int, len(want))
	for i, name := range want {
		position, ok := at[name]
		if !ok {
			return nil, fmt.Errorf("%s: no %s %q, number %d of %s: %w", file, what, name, i+1, from, ErrNames)
		}
		out[i] = position
	}
	return out, nil
}

// arranged copies n rows of a matrix: those at rows and columns, or the first ones in order if these are nil.
func arranged[S, T any](m *Matrix, values []S, n int, rows, columns []int, convert func(S) T) []T {
	out := make([]T, n*m.Cols)
	for i := range n {
		from := i
		if rows != nil {
			from = rows[i]
		}
		row := values[from*m.Cols : (from+1)*m.Cols]
		for c := range m.Cols {
			at := c
			if columns != nil {
				at = columns[c]
			}
			out[i*m.Cols+c] = convert(row[at])
		}
	}
	return out
}
