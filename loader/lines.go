package loader

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"nmn/internal/input"
)

// Lines of a file that are found by their number.
const (
	lineStride   = 32      // the start of every 32nd line is stored: a quarter of a byte for each line
	maxLineBytes = 1 << 20 // most bytes of a line
)

// lineTable finds lines of a file by their number, in memory that hardly grows with the file: it stores where
// some of the lines begin, and reads on from there.
type lineTable struct {
	file  *input.File
	size  int64
	n     int     // lines
	known []int64 // starts of lines 0, lineStride, 2·lineStride, ...
}

// openLines looks for the ends of all lines.
func openLines(path string) (*lineTable, error) {
	file, err := input.OpenFile(path)
	if err != nil {
		return nil, err
	}
	t := &lineTable{file: file}
	if err := t.scan(); err != nil {
		return nil, errors.Join(Unusable(fmt.Errorf("%q, line %d: %w", path, t.n+1, err)), file.Close())
	}
	return t, nil
}

func (t *lineTable) scan() error {
	r := bufio.NewReaderSize(t.file, 1<<18)
	line := int64(0) // bytes of it so far
	for {
		part, err := r.ReadSlice('\n')
		if line == 0 && len(part) > 0 && t.n%lineStride == 0 {
			t.known = append(t.known, t.size)
		}
		t.size, line = t.size+int64(len(part)), line+int64(len(part))
		switch {
		case line > maxLineBytes:
			return fmt.Errorf("longer than %d bytes", maxLineBytes)
		case err == nil:
			t.n, line = t.n+1, 0
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && line > 0:
			return errors.New("the file is cut short: the last line has no end")
		case errors.Is(err, io.EOF):
			return nil
		default:
			return err
		}
	}
}

func (t *lineTable) name() string { return t.file.Name() }

// Close closes the file. Reads that follow fail.
func (t *lineTable) Close() error { return t.file.Close() }

// read returns line i without its end, in buffer; io.EOF if there is none.
func (t *lineTable) read(i int, buffer *[]byte) ([]byte, error) {
	if i < 0 || i >= t.n {
		return nil, io.EOF
	}
	from, to := t.known[i/lineStride], t.size
	if next := i/lineStride + 1; next < len(t.known) {
		to = t.known[next]
	}
	lines := resized(*buffer, int(to-from))
	*buffer = lines
	if _, err := t.file.ReadAt(lines, from); err != nil {
		return nil, fmt.Errorf("bytes %d to %d: the file has changed since it was opened: %w", from, to, noEOF(err))
	}
	for range i % lineStride {
		_, lines, _ = bytes.Cut(lines, []byte("\n"))
	}
	line, _, ended := bytes.Cut(lines, []byte("\n"))
	if !ended {
		return nil, fmt.Errorf("bytes %d to %d have fewer lines than when the file was opened", from, to)
	}
	return line, nil
}

// noEOF prevents the end of a file from being mistaken for the end of its lines.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
