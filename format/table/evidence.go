package table

import (
	"fmt"
	"math"
)

// ReadEvidence reads log-likelihood ratios from a .csv or .npy file: any number that float32 holds, and neither NaN
// nor infinite.
func ReadEvidence(path string) (*Matrix, error) {
	return readMatrix(path, cellRule{clean: finite, fault: func(v float64) error {
		if s := float64(float32(v)); math.IsNaN(s) || math.IsInf(s, 0) {
			return fmt.Errorf("evidence %v, want a finite log-likelihood ratio, 0 if nothing is known: %w", v, ErrValue)
		}
		return nil
	}})
}

// Select returns the rows of some bags with the columns of the words, row-major, both in the given order.
//
// all lists the bags of the rows of a file without the column "id", in their order. With that column the rows
// are found by name, and the file may have rows of other bags too. The columns belong to the words, in any
// order if a header names them.
func (m *Matrix) Select(bags, all, words []string) ([]float32, error) {
	columns, err := m.columnsFor(words, "the data")
	if err != nil {
		return nil, err
	}
	if m.IDs == nil && m.Rows != len(all) {
		ends := ""
		if len(all) > 0 {
			ends = fmt.Sprintf(", from %q to %q", all[0], all[len(all)-1])
		}
		return nil, fmt.Errorf("%s has %d rows, and the data have %d samples%s: want one row for each, or a column %q: %w",
			m.Name, m.Rows, len(all), ends, idColumn, ErrShape)
	}
	rows, err := m.rowsOf(bags, all)
	if err != nil {
		return nil, err
	}
	if rows == nil && columns == nil {
		return m.Values, nil
	}
	return arranged(m, m.Values, len(bags), rows, columns, func(v float32) float32 { return v }), nil
}

// rowsOf returns the row of each bag, or nil if the rows belong to the bags in order.
func (m *Matrix) rowsOf(bags, all []string) ([]int, error) {
	have, of := m.IDs, m.Name
	if have == nil {
		if len(bags) == len(all) {
			return nil, nil
		}
		have, of = all, "the data"
	}
	return positions(of, "id", have, bags, "the training set")
}
