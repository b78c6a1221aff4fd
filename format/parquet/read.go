package parquet

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/parquet-go/parquet-go"

	"nmn/format/records"
)

// table reads a Parquet table: columns of numbers, lists of numbers (one vector each), strings, and lists of strings.
type table struct {
	names  []string // of the root columns
	nested []bool   // a list
	times  []bool   // dates or times
	index  string
	groups []parquet.RowGroup
	rows   parquet.Rows // of the current group
	buffer []parquet.Row
	ready  int // rows of buffer not handed out yet
	taken  int // of buffer
	spans  [][]parquet.Value
	row    int
}

// batch is how many rows are decoded at a time.
const batch = 64

func open(f io.ReaderAt, size int64) (records.Table, error) {
	file, err := parquet.OpenFile(f, size, parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true))
	if err != nil {
		return nil, err
	}
	t := &table{buffer: make([]parquet.Row, batch), index: indexIn(file)}
	for _, g := range file.RowGroups() {
		if g.NumRows() > 0 { // of an empty one the library cannot read even that
			t.groups = append(t.groups, g)
		}
	}
	schema := file.Schema()
	for _, path := range schema.Columns() {
		leaf, ok := schema.Lookup(path...)
		if !ok {
			return nil, fmt.Errorf("its schema lacks its own column %q", path)
		}
		if len(t.names) > 0 && t.names[len(t.names)-1] == path[0] {
			return nil, fmt.Errorf("column %.60q has fields of its own; want numbers, text, or lists of them", path[0])
		}
		if leaf.MaxRepetitionLevel > 1 {
			return nil, fmt.Errorf("column %.60q holds lists of lists; want one list for each row", path[0])
		}
		t.names = append(t.names, path[0])
		t.nested = append(t.nested, leaf.MaxRepetitionLevel == 1)
		means := ""
		if of := leaf.Node.Type().LogicalType(); of != nil {
			means = of.String()
		}
		t.times = append(t.times, strings.HasPrefix(means, "DATE") || strings.HasPrefix(means, "TIME")) // and TIMESTAMP
	}
	t.spans = make([][]parquet.Value, len(t.names))
	return t, nil
}

// indexIn returns the index of the table that pandas notes in a file.
func indexIn(file *parquet.File) string {
	note, _ := file.Lookup("pandas")
	var pandas struct {
		Columns []any `json:"index_columns"` // names, or objects that describe a range, which is no column
	}
	if json.Unmarshal([]byte(note), &pandas) != nil || len(pandas.Columns) != 1 {
		return ""
	}
	name, _ := pandas.Columns[0].(string)
	return name
}

func (t *table) Columns() []string { return t.names }

func (t *table) Index() string { return t.index }

func (t *table) Row() int { return t.row }

func (t *table) Next() error {
	for t.taken == t.ready {
		if err := t.read(); err != nil {
			return err
		}
	}
	row := t.buffer[t.taken]
	t.taken++
	t.row++
	for c := range t.spans {
		t.spans[c] = nil
	}
	for from := 0; from < len(row); {
		c, to := row[from].Column(), from+1
		for to < len(row) && row[to].Column() == c {
			to++
		}
		if c < 0 || c >= len(t.spans) {
			return fmt.Errorf("row %d: a value of column %d, there are %d columns", t.row, c+1, len(t.spans))
		}
		t.spans[c], from = row[from:to], to
	}
	return nil
}

// read decodes some more rows. It returns io.EOF after the last group.
func (t *table) read() error {
	if t.rows == nil {
		if len(t.groups) == 0 {
			return io.EOF
		}
		t.rows, t.groups = t.groups[0].Rows(), t.groups[1:]
	}
	n, err := t.rows.ReadRows(t.buffer)
	t.ready, t.taken = n, 0
	switch {
	case err == nil && n > 0:
		return nil
	case err == nil:
		return fmt.Errorf("after row %d: the file is damaged; copy or write it again: nothing more can be read, and it "+
			"does not end", t.row)
	}
	closing := t.rows.Close()
	t.rows = nil
	if !errors.Is(err, io.EOF) || closing != nil {
		return fmt.Errorf("after row %d: the file is damaged; copy or write it again: %v", t.row+n, errors.Join(err, closing))
	}
	return nil
}

func (t *table) Numbers(dst []float32, c int) ([]float32, error) {
	values := t.spans[c]
	if t.times[c] {
		return dst, errors.New("it holds dates or times, not numbers")
	}
	if t.nested[c] && len(values) == 1 && values[0].IsNull() {
		return dst, nil // an empty list
	}
	for _, v := range values {
		x, err := number(v)
		if err != nil {
			return dst, err
		}
		dst = append(dst, x)
	}
	return dst, nil
}

func number(v parquet.Value) (float32, error) {
	if v.IsNull() {
		return float32(math.NaN()), nil
	}
	switch v.Kind() {
	case parquet.Boolean:
		if v.Boolean() {
			return 1, nil
		}
		return 0, nil
	case parquet.Int32:
		return float32(v.Int32()), nil
	case parquet.Int64:
		return float32(v.Int64()), nil
	case parquet.Float:
		return v.Float(), nil
	case parquet.Double:
		return float32(v.Double()), nil
	}
	return 0, fmt.Errorf("%.60q has type %v, not a number", v.String(), v.Kind())
}

func (t *table) Text(c int) (string, error) {
	if t.nested[c] || len(t.spans[c]) != 1 {
		return "", errors.New("it holds a list, want one text")
	}
	return text(t.spans[c][0]), nil
}

func text(v parquet.Value) string {
	if v.IsNull() {
		return ""
	}
	if v.Kind() == parquet.ByteArray || v.Kind() == parquet.FixedLenByteArray {
		return string(v.ByteArray())
	}
	return v.String()
}

func (t *table) List(c int) (list []string, ok bool) {
	if !t.nested[c] {
		return nil, false
	}
	for _, v := range t.spans[c] {
		if !v.IsNull() {
			list = append(list, text(v))
		}
	}
	return list, true
}

func (t *table) Close() error {
	if t.rows == nil {
		return nil
	}
	return t.rows.Close()
}
