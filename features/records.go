package features

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// records is a table in a file, read once from top to bottom.
type records interface {
	// columns are the names of the columns, in the order of the file.
	columns() []string
	// next goes to the next row; io.EOF after the last.
	next() error
	// place tells where the current row is, for messages: "line 12" or "row 7".
	place() string
	// numbers appends what column c holds: one number, or more for a column of vectors; NaN where a
	// value is missing.
	numbers(dst []float32, c int) ([]float32, error)
	// text is column c as it stands.
	text(c int) (string, error)
	// list is column c as a list of labels.
	list(c int) ([]string, error)
	close() error
}

// decoded is a table in memory.
type decoded struct {
	features []float32
	width    int
	names    []string // of the feature columns; vectors and choices spread over several
	ids      []string
	splits   []string
	words    []string // of the label columns
	labels   []uint8
	lists    [][]string // in place of labels
	rows     int
	widths   []int // of the feature columns
	columns  []string
}

// decode reads a table to its end. most is the largest value of a label column: 1, or that of counts.
func (o *Options) decode(file string, r records, l layout, most int) (*decoded, error) {
	d := &decoded{words: l.words, columns: r.columns()}
	named := func(c int) string { return fmt.Sprintf("column %d (%s)", c+1, clip(d.columns[c])) }
	var scratch []float32
	seen := map[string]string{}
	for {
		err := r.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("features: %q: %w", file, err)
		}
		at := func(c int, err error) error {
			return fmt.Errorf("features: %q, %s, %s: %w", file, r.place(), named(c), err)
		}
		if err := d.addFeatures(r, l, o.Missing, at); err != nil {
			return nil, err
		}
		if int64(len(d.features))*4 > o.limit() {
			return nil, formatf("features: %q, %s: the features up to here take %d bytes of memory, the limit is %d; "+
				"write them as .npy, which stays on disk (nmn features FILE --output features.npy), or raise --memory-limit", file, r.place(), len(d.features)*4, o.limit())
		}
		for _, c := range l.labels {
			if scratch, err = r.numbers(scratch[:0], c); err == nil {
				err = checkLabel(scratch, most)
			}
			if err != nil {
				return nil, at(c, err)
			}
			d.labels = append(d.labels, uint8(scratch[0]))
		}
		if err := d.addTexts(r, l, seen, at); err != nil {
			return nil, err
		}
		d.rows++
	}
	if d.rows == 0 {
		return nil, formatf("features: %q has no rows", file)
	}
	return d, nil
}

// addFeatures appends the features of the current row. The first row tells how wide columns of vectors
// are.
func (d *decoded) addFeatures(r records, l layout, missing bool, at func(int, error) error) error {
	for i, c := range l.features {
		before := len(d.features)
		var err error
		if d.features, err = r.numbers(d.features, c); err != nil {
			return at(c, err)
		}
		got := d.features[before:]
		if len(got) == 0 {
			return at(c, formatf("an empty list, want numbers"))
		}
		if d.rows == 0 {
			d.widths = append(d.widths, len(got))
			d.width += len(got)
		} else if len(got) != d.widths[i] {
			return at(c, formatf("%d numbers, the rows before have %d", len(got), d.widths[i]))
		}
		for k, v := range got {
			if unusable(v, missing) {
				if len(got) > 1 {
					return at(c, valuef("number %d is %v: %s", k+1, v, cureOf(v)))
				}
				return at(c, valuef("it is %v: %s", v, cureOf(v)))
			}
		}
	}
	return nil
}

// addTexts appends identifier, split and label list of the current row. seen tells where an identifier
// was before.
func (d *decoded) addTexts(r records, l layout, seen map[string]string, at func(int, error) error) error {
	if l.id >= 0 {
		id, err := r.text(l.id)
		if err == nil {
			err = checkID(id, seen, r.place())
		}
		if err != nil {
			return at(l.id, err)
		}
		d.ids = append(d.ids, id)
	}
	if l.split >= 0 {
		split, err := r.text(l.split)
		if err != nil {
			return at(l.split, err)
		}
		d.splits = append(d.splits, split)
	}
	if l.list >= 0 {
		list, err := r.list(l.list)
		if err != nil {
			return at(l.list, err)
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

// checkLabel checks that a label is one whole number from 0 to most.
func checkLabel(value []float32, most int) error {
	if len(value) != 1 {
		return valuef("%d numbers, a label is one", len(value))
	}
	v := value[0]
	if !(v >= 0 && v <= float32(most)) || v != float32(int(v)) {
		if most == 1 {
			return valuef("the label is %v, want 0 or 1", v)
		}
		return valuef("the count is %v, want a whole number from 0 to %d", v, most)
	}
	return nil
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
