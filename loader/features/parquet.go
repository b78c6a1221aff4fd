package features

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go"
)

// parquetRecords reads a Parquet table: columns of numbers, lists of numbers (one vector each),
// strings, and lists of strings.
type parquetRecords struct {
	names  []string // of the root columns
	nested []bool   // a list
	groups []parquet.RowGroup
	rows   parquet.Rows // of the current group
	buffer []parquet.Row
	ready  int // rows of buffer not handed out yet
	taken  int // of buffer
	spans  [][]parquet.Value
	row    int
	closer io.Closer
}

// parquetBatch is how many rows are decoded at a time.
const parquetBatch = 64

func openParquet(ctx context.Context, name string) (*parquetRecords, error) {
	f, size, err := openRegular(ctx, name)
	if err != nil {
		return nil, err
	}
	p, err := newParquet(f, size)
	if err != nil {
		_ = f.Close() // it was only read
		return nil, fmt.Errorf("features: %q: %w", name, err)
	}
	p.closer = f
	return p, nil
}

func newParquet(f io.ReaderAt, size int64) (p *parquetRecords, err error) {
	defer recovered(&err)
	if err := checkFooter(f, size); err != nil {
		return nil, err
	}
	file, err := parquet.OpenFile(f, size, parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true))
	if err != nil {
		return nil, formatf("%v", err)
	}
	p = &parquetRecords{buffer: make([]parquet.Row, parquetBatch)}
	for _, g := range file.RowGroups() {
		if g.NumRows() > 0 { // of an empty one the library cannot read even that
			p.groups = append(p.groups, g)
		}
	}
	schema := file.Schema()
	for _, path := range schema.Columns() {
		leaf, ok := schema.Lookup(path...)
		if !ok {
			return nil, formatf("its schema lacks its own column %q", path)
		}
		if len(p.names) > 0 && p.names[len(p.names)-1] == path[0] {
			return nil, formatf("column %q has fields of its own; want numbers, text, or lists of them", clip(path[0]))
		}
		if leaf.MaxRepetitionLevel > 1 {
			return nil, formatf("column %q holds lists of lists; want one list for each row", clip(path[0]))
		}
		p.names = append(p.names, path[0])
		p.nested = append(p.nested, leaf.MaxRepetitionLevel == 1)
	}
	p.spans = make([][]parquet.Value, len(p.names))
	return p, nil
}

// checkFooter compares the length that the last bytes claim for the metadata with the file: the library
// takes memory for it before it looks.
func checkFooter(f io.ReaderAt, size int64) error {
	const magic, ends = "PAR1", 8 // the length and the magic number again
	last := make([]byte, ends)
	if size < int64(len(magic))+ends {
		return formatf("%d bytes are no Parquet file: it is cut short, or another file; copy or write it again", size)
	}
	if err := readFull(f, last, size-ends); err != nil {
		return err
	}
	if length := int64(binary.LittleEndian.Uint32(last)); length > size-ends-int64(len(magic)) ||
		string(last[4:]) != magic {
		return formatf(
			"it does not end as a Parquet file does: it is cut short, damaged or encrypted; copy or write it again")
	}
	return nil
}

// recovered turns a panic of the library on a damaged file into an error: what is in a file must not
// end the program.
func recovered(err *error) {
	if cause := recover(); cause != nil {
		*err = formatf("the file is damaged; copy or write it again: %v", cause)
	}
}

func (p *parquetRecords) columns() []string { return p.names }

func (p *parquetRecords) next() (err error) {
	defer recovered(&err)
	for p.taken == p.ready {
		if err := p.read(); err != nil {
			return err
		}
	}
	row := p.buffer[p.taken]
	p.taken++
	p.row++
	for c := range p.spans {
		p.spans[c] = nil
	}
	for from := 0; from < len(row); {
		c, to := row[from].Column(), from+1
		for to < len(row) && row[to].Column() == c {
			to++
		}
		if c < 0 || c >= len(p.spans) {
			return formatf("row %d: a value of column %d, there are %d columns", p.row, c+1, len(p.spans))
		}
		p.spans[c], from = row[from:to], to
	}
	return nil
}

// read decodes some more rows; io.EOF after the last group.
func (p *parquetRecords) read() error {
	if p.rows == nil {
		if len(p.groups) == 0 {
			return io.EOF
		}
		p.rows, p.groups = p.groups[0].Rows(), p.groups[1:]
	}
	n, err := p.rows.ReadRows(p.buffer)
	p.ready, p.taken = n, 0
	switch {
	case err == nil && n > 0:
		return nil
	case err == nil:
		return formatf("after row %d: the file is damaged; copy or write it again: nothing more can be read, and it "+
			"does not end", p.row)
	}
	closing := p.rows.Close()
	p.rows = nil
	if !errors.Is(err, io.EOF) || closing != nil {
		return formatf("after row %d: the file is damaged; copy or write it again: %v",
			p.row+n, errors.Join(err, closing))
	}
	return nil
}

func (p *parquetRecords) place() string { return fmt.Sprintf("row %d", p.row) }

func (p *parquetRecords) numbers(dst []float32, c int) ([]float32, error) {
	values := p.spans[c]
	if p.nested[c] && len(values) == 1 && values[0].IsNull() {
		return dst, nil // an empty list
	}
	for _, v := range values {
		number, err := parquetNumber(v)
		if err != nil {
			return dst, err
		}
		dst = append(dst, number)
	}
	return dst, nil
}

func parquetNumber(v parquet.Value) (float32, error) {
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
	return 0, valuef("%q is of type %v, not a number; leave the column out with `data.features.ignore_columns` if it is no feature",
		clip(v.String()), v.Kind())
}

func (p *parquetRecords) text(c int) (string, error) {
	if p.nested[c] || len(p.spans[c]) != 1 {
		return "", valuef("it holds a list, want one text")
	}
	return parquetText(p.spans[c][0]), nil
}

func parquetText(v parquet.Value) string {
	if v.IsNull() {
		return ""
	}
	if v.Kind() == parquet.ByteArray || v.Kind() == parquet.FixedLenByteArray {
		return string(v.ByteArray())
	}
	return v.String()
}

func (p *parquetRecords) list(c int) ([]string, error) {
	if !p.nested[c] {
		text, err := p.text(c)
		return splitList(text), err
	}
	var list []string
	for _, v := range p.spans[c] {
		if !v.IsNull() {
			list = append(list, parquetText(v))
		}
	}
	return list, nil
}

func (p *parquetRecords) close() error {
	var err error
	if p.rows != nil {
		err = p.rows.Close()
	}
	return errors.Join(err, p.closer.Close())
}
