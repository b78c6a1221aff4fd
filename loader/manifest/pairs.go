package manifest

import (
	"fmt"
	"slices"
	"strconv"

	"nmn/loader"
)

// pairs reports whether rows of one picture may each state one of its labels.
func (b *builder) pairs() bool { return b.stated != nil && b.stated.pairs }

// earlier returns the earlier row with the same identifier, or with the same picture if rows may give one
// label each.
func (b *builder) earlier(row *Row, r *record) (at int, ok bool) {
	if r.id != "" && len(row.Files) == 1 {
		if at, ok = b.files[row.Files[0]]; ok {
			return at, true
		}
	}
	at, ok = b.ids[row.ID]
	return at, ok
}

// keep takes a row.
func (b *builder) keep(row Row, r *record) {
	at := len(b.manifest.Rows)
	b.ids[row.ID] = at
	if b.pairs() {
		if len(row.Files) == 1 && r.id != "" {
			b.files[row.Files[0]] = at
		}
		b.line(row.Line, row.Line, row.Labels)
	}
	b.manifest.Rows = append(b.manifest.Rows, row)
}

// line records the labels of a line.
func (b *builder) line(number, row int, labels []int32) {
	l := Line{Number: number, Row: row, Label: -1}
	if len(labels) > 0 {
		l.Label = labels[0]
	}
	b.manifest.Lines = append(b.manifest.Lines, l)
}

// again handles a row of a picture that an earlier row has: it repeats that row, or gives another label.
func (b *builder) again(at int, row *Row, r *record) error {
	first := &b.manifest.Rows[at]
	name := loader.Excerpt(row.ID)
	if r.line == 0 {
		return fmt.Errorf("the picture %q is described twice; remove one of the two", name)
	}
	known := row.Truth != nil || row.Counts != nil || first.Truth != nil || first.Counts != nil
	same := slices.Equal(first.Labels, row.Labels) && slices.Equal(first.Truth, row.Truth) &&
		(first.Truth == nil) == (row.Truth == nil) && slices.Equal(first.Counts, row.Counts) &&
		(first.Counts == nil) == (row.Counts == nil)
	more, one := b.pairs() && !known, b.stated != nil && (b.stated.form == FormSingle || b.stated.form == FormIntegers)
	switch {
	case !slices.Equal(first.Files, row.Files):
		return columnError(r.idColumn(), fmt.Errorf("%q repeats line %d, which has another picture; give each row an id "+
			"of its own", name, first.Line))
	case first.Split != row.Split:
		return columnError(r.column(splitColumn), fmt.Errorf("%q is in another split on line %d; a picture is in one", name,
			first.Line))
	case !same && !more && one && !known:
		return columnError(r.idColumn(), fmt.Errorf("%q repeats line %d with another label; remove one of the rows, or if "+
			"each row has one of several labels, set `data.label_form` %s", name, first.Line, FormPairs))
	case !same && !more:
		return columnError(r.idColumn(), fmt.Errorf("%q repeats line %d with other content; make one row of the two",
			name, first.Line))
	}
	b.byFile = b.byFile || first.ID != row.ID
	if has := len(row.Labels) == 0 || slices.Contains(first.Labels, row.Labels[0]); more && !has {
		first.Labels = append(slices.Clone(first.Labels), row.Labels...)
		slices.Sort(first.Labels)
		b.paired = true
	} else if !r.denied {
		b.manifest.Repeated++
	}
	b.line(row.Line, first.Line, row.Labels)
	return nil
}

// finish settles, after the last row, whether rows are pairs of a picture and a label.
func (b *builder) finish() {
	m := b.manifest
	if b.pairs() && (b.paired || b.stated.pairsAsked) {
		m.Form = FormPairs
	} else {
		m.Lines = slices.DeleteFunc(m.Lines, func(l Line) bool { return l.Number == l.Row })
	}
	if b.paired && b.byFile { // identifiers name rows, not pictures
		for i := range m.Rows {
			if row := &m.Rows[i]; len(row.Files) == 1 {
				row.ID = row.Files[0]
			}
		}
	}
}

// denies reports whether a cell of the column confidence means that the picture does not have the label of
// its row.
func denies(cell string) bool {
	confidence, err := strconv.ParseFloat(cell, 64)
	return err == nil && confidence == 0
}
