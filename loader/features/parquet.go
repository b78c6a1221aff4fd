package features

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	formats "nmn/format/records"
)

// parquetRecords is a Parquet table with columns of numbers, lists of numbers (one vector each), strings, and lists of
// strings.
type parquetRecords struct {
	formats.Table
}

func newParquet(f io.ReaderAt, size int64) (p *parquetRecords, err error) {
	defer recovered(&err)
	if err := checkFooter(f, size); err != nil {
		return nil, err
	}
	t, err := formats.Open(f, size)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, err
	} else if err != nil {
		return nil, formatf("%v", err)
	}
	return &parquetRecords{Table: t}, nil
}

// checkFooter compares the length that the last bytes claim for the metadata with the file: the library
// takes memory for it before it looks.
func checkFooter(f io.ReaderAt, size int64) error {
	const magic, ends = "PAR1", 8 // the length and the magic number again
	last := make([]byte, ends)
	if size < int64(len(magic))+ends {
		return formatf("not a Parquet file (%d bytes): it is cut short, or another file; copy or write it again", size)
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

// recovered turns a panic of the library on a damaged file into an error: the content of a file must not end
// the program.
func recovered(err *error) {
	if cause := recover(); cause != nil {
		*err = formatf("the file is damaged; copy or write it again: %v", cause)
	}
}

func (p *parquetRecords) columns() []string { return p.Columns() }

func (p *parquetRecords) next() (err error) {
	defer recovered(&err)
	if err = p.Next(); err != nil && !errors.Is(err, io.EOF) {
		err = formatf("%v", err)
	}
	return err
}

func (p *parquetRecords) place() string { return fmt.Sprintf("row %d", p.Row()) }

func (p *parquetRecords) numbers(dst []float32, c int) ([]float32, error) {
	dst, err := p.Numbers(dst, c)
	if err != nil {
		err = valuef("%v; leave the column out with `data.features.ignore_columns` if it is no feature", err)
	}
	return dst, err
}

func (p *parquetRecords) text(c int) (string, error) {
	text, err := p.Text(c)
	if err != nil {
		err = valuef("%v", err)
	}
	return text, err
}

func (p *parquetRecords) list(c int) ([]string, error) {
	if list, ok := p.List(c); ok {
		return list, nil
	}
	text, err := p.text(c)
	return splitList(text), err
}
