package features

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// records is a table in a file, read once from top to bottom.
type records interface {
	// columns are the names of the columns, in the order of the file.
	columns() []string
	// next goes to the next row; io.EOF after the last.
	next() error
	// place is where the current row is, for messages: "line 12" or "row 7".
	place() string
	// numbers appends the content of column c: one number, or several for a column of vectors; NaN if a value
	// is missing.
	numbers(dst []float32, c int) ([]float32, error)
	// text is column c as it stands.
	text(c int) (string, error)
	// list is column c as a list of labels.
	list(c int) ([]string, error)
}

// decoded is a table in memory.
type decoded struct {
	columns  []string    // columns of the file
	labelled []string    // those that have labels
	features []float32   // features of the current row
	kept     *memoryRows // features of all rows, unless they are spilled; nil if there are none
	width    int
	widths   []int    // widths of the feature columns: vectors and choices have several numbers
	names    []string // names of the feature columns
	ids      []string
	splits   []string
	weights  []float32
	words    []string // names of the label columns
	labels   []uint8
	lists    [][]string // in place of labels
	classes  bool       // lists hold the number of a class each, or a name
	rows     int

	suspects []suspect

	seen    map[string]string // location of each identifier
	scratch []float32
	spill   *Writer // for features that do not stay in memory
}

// decode reads a table to its end. most is the largest value of a label column: 1, or the largest count.
func (o *Options) decode(ctx context.Context, file string, r records, l layout, rule labelRule) (*decoded, error) {
	d := &decoded{words: l.words, columns: r.columns(), seen: map[string]string{}}
	if d.labelled = slices.Clone(l.words); l.list >= 0 {
		d.labelled = []string{d.columns[l.list]}
	}
	for _, c := range l.suspects {
		d.suspects = append(d.suspects, suspect{c, true})
	}
	err := d.readAll(ctx, o, r, l, rule)
	if err == nil {
		err = d.checkSuspects()
	}
	if err == nil && l.inferred && l.list >= 0 {
		d.classes, err = true, d.checkInferred(l.list)
	}
	if err != nil {
		err = fmt.Errorf("features: %q, %w", file, err)
	} else if d.spill != nil {
		err = d.spill.Commit()
	}
	if d.spill != nil {
		err = errors.Join(err, d.spill.Close())
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// readAll reads all rows; its errors begin with the place in the file.
func (d *decoded) readAll(ctx context.Context, o *Options, r records, l layout, rule labelRule) error {
	for {
		err := ctx.Err()
		if err == nil {
			err = r.next()
		}
		switch {
		case errors.Is(err, io.EOF) && d.rows == 0:
			return formatf("it has no rows")
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := d.add(o, r, l, rule); err != nil {
			return fmt.Errorf("%s, %w", r.place(), err)
		}
		d.rows++
	}
}

// add takes the current row.
func (d *decoded) add(o *Options, r records, l layout, rule labelRule) error {
	if err := d.addFeatures(r, l, o.Missing); err != nil {
		return err
	}
	if len(l.features) > 0 {
		keep := d.keepRow
		if o.Spill != "" {
			keep = d.spillRow
		}
		if err := keep(o); err != nil {
			return err
		}
	}
	for _, c := range l.labels {
		var err error
		if d.scratch, err = r.numbers(d.scratch[:0], c); err == nil && len(d.scratch) != 1 {
			err = valuef("%d numbers, a label is one", len(d.scratch))
		}
		if err != nil {
			return d.at(c, err)
		}
		z, err := rule.label(d.scratch[0])
		if err != nil {
			return d.at(c, err)
		}
		d.labels = append(d.labels, z)
	}
	if l.weight >= 0 {
		var err error
		if d.weights, err = r.numbers(d.weights, l.weight); err == nil && len(d.weights) != d.rows+1 {
			err = valuef("%d numbers, a weight is one", len(d.weights)-d.rows)
		}
		if err == nil {
			err = checkWeight(d.weights[d.rows])
		}
		if err != nil {
			return d.at(l.weight, err)
		}
	}
	return d.addTexts(r, l)
}

// at adds to an error which column it is about.
func (d *decoded) at(c int, err error) error {
	return fmt.Errorf("column %d (%s): %w", c+1, clip(d.columns[c]), err)
}

// keepRow keeps the features of the current row in memory.
func (d *decoded) keepRow(o *Options) error {
	if d.kept == nil {
		d.kept = newMemoryRows(d.width)
	}
	if bytes := d.kept.bytes() + 4*int64(d.width); bytes > o.limit() {
		return formatf("the features up to here take %d bytes of memory, the limit is %d; "+
			"write them as .npy, which stays on disk (`features.output` features.npy), or raise "+
			"`data.features.memory_limit`", bytes, o.limit())
	}
	return d.kept.add(d.features)
}

// spillRow moves the features of the current row to a file.
func (d *decoded) spillRow(o *Options) (err error) {
	if d.spill == nil {
		if d.spill, err = Create(o.Spill, d.width); err != nil {
			return err
		}
	}
	return d.spill.Write(d.features)
}

// addFeatures reads the features of the current row. The first row decides how wide columns of vectors
// are.
func (d *decoded) addFeatures(r records, l layout, missing bool) error {
	d.features = d.features[:0]
	for i, c := range l.features {
		before := len(d.features)
		var err error
		if d.features, err = r.numbers(d.features, c); err != nil {
			return d.at(c, err)
		}
		got := d.features[before:]
		if len(got) == 0 {
			return d.at(c, formatf("an empty list, want numbers"))
		}
		for s := range d.suspects {
			if d.suspects[s].column == c {
				d.suspects[s].look(got)
			}
		}
		if d.rows == 0 {
			d.widths = append(d.widths, len(got))
			d.width += len(got)
		} else if len(got) != d.widths[i] {
			return d.at(c, formatf("%d numbers, the rows before have %d", len(got), d.widths[i]))
		}
		for k, v := range got {
			if unusable(v, missing) {
				if len(got) > 1 {
					return d.at(c, valuef("number %d is %v: %s", k+1, v, cureOf(v)))
				}
				return d.at(c, valuef("it is %v: %s", v, cureOf(v)))
			}
		}
	}
	return nil
}

// addTexts appends identifier, split and label list of the current row.
func (d *decoded) addTexts(r records, l layout) error {
	if l.id >= 0 {
		id, err := r.text(l.id)
		if err == nil {
			err = checkID(id, d.seen, r.place())
		}
		if err != nil && l.id == indexColumn(r) {
			err = fmt.Errorf("%w; reset the index of the table, or leave it out (`data.features.ignore_columns` %s)", err,
				clip(d.columns[l.id]))
		}
		if err != nil {
			return d.at(l.id, err)
		}
		d.ids = append(d.ids, id)
	}
	if l.split >= 0 {
		split, err := r.text(l.split)
		if err != nil {
			return d.at(l.split, err)
		}
		d.splits = append(d.splits, split)
	}
	if l.list >= 0 {
		list, err := r.list(l.list)
		if err != nil {
			return d.at(l.list, err)
		}
		d.lists = append(d.lists, list)
	}
	return nil
}

func checkID(id string, seen map[string]string, place string) error {
	if id == "" {
		return valuef("the identifier is empty")
	}
	if before, ok := seen[id]; ok {
		return valuef("the identifier %q is that of %s already; identifiers must differ", clip(id), before)
	}
	seen[id] = place
	return nil
}

// label takes a number of a file as a label.
func (rule labelRule) label(v float32) (uint8, error) {
	switch {
	case rule.gaps && (v != v || v == -1):
		return Unknown, nil
	case v != v:
		return 0, valuef("the label is missing, want a number; fill it in, or take the row out")
	case v >= 0 && v <= float32(rule.most) && v == float32(int(v)):
		return uint8(v), nil
	case rule.gaps:
		return 0, valuef("the label is %v, want 0 or 1, or -1 if it is unknown", v)
	case rule.most == 1:
		return 0, valuef("the label is %v, want 0 or 1", v)
	}
	return 0, valuef("the count is %v, want a whole number from 0 to %d", v, rule.most)
}

// splitList takes a list of labels apart: at semicolons or vertical bars, without blanks around them.
func splitList(s string) []string {
	var list []string
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ';' || r == '|' }) {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}
