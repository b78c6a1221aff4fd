package features

import "slices"

// Order puts the features into the order of columns, which are the names of the features of a source. It does nothing
// if the table or the source has no names. A column that only one of them has is an error.
func (t *Table) Order(columns []string, source string) error {
	if t.Columns == nil || columns == nil || slices.Equal(t.Columns, columns) {
		return nil
	}
	at := positions(t.Columns)
	from := make([]int, len(columns))
	for i, name := range columns {
		place, ok := at[name]
		if !ok {
			return formatf("features: %q lacks the column %q, which is feature %d of %s: add it", t.Name, clip(name), i+1,
				source)
		}
		from[i] = place
		delete(at, name)
	}
	for _, name := range t.Columns {
		if _, left := at[name]; left {
			return formatf("features: column %q of %q is no feature of %s: leave it out (`data.features.ignore_columns`)",
				clip(name), t.Name, source)
		}
	}
	if t.Rows.Width() != len(columns) {
		return formatf("features: the columns of %q are in another order than in %s, and some have several numbers: write "+
			"them in the same order", t.Name, source)
	}
	t.Rows, t.Columns = &orderedRows{Rows: t.Rows, from: from}, slices.Clone(columns)
	return nil
}

// orderedRows have the numbers of each row in another order.
type orderedRows struct {
	Rows
	from []int // place of each number
}

func (o *orderedRows) Read(i int, dst []float32) error {
	row := make([]float32, len(dst))
	if err := o.Rows.Read(i, row); err != nil {
		return err
	}
	for c, at := range o.from {
		dst[c] = row[at]
	}
	return nil
}
