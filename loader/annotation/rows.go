package annotation

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"nmn/loader"
	"nmn/loader/picture"
)

// rows reads the rows of a table of captions. Cells have commas, bars, tabs or semicolons between them, below a
// header. Lines of Flickr30k's token files have no header: a.jpg#0, a tab and the caption.
type rows struct {
	sheet *csv.Reader // nil for token files
	at    [fieldCount]int
	width int // cells of the header

	lines  *bufio.Reader // of token files
	number int           // of the line that was read last
	offset int64         // of its end
}

// newRows finds out by the first line how a table is written, and reads its header.
func newRows(r io.Reader) (*rows, error) {
	const longest = 1 << 16
	text := bufio.NewReaderSize(r, longest)
	start, _ := text.Peek(longest) // an error comes back when it is read
	line, _, _ := bytes.Cut(bytes.TrimLeft(start, "\r\n"), []byte("\n"))
	if key, _, ok := strings.Cut(string(line), "\t"); ok {
		if file, ok := token(key); ok && picture.IsName(file) {
			return &rows{lines: text}, nil
		}
	}
	t := &rows{sheet: csv.NewReader(text)}
	t.sheet.ReuseRecord = true
	for _, comma := range []rune{'|', '\t', ';'} {
		if _, err := columnsOf(strings.Split(string(line), string(comma))); err == nil {
			t.sheet.Comma, t.sheet.LazyQuotes = comma, true // captions there hold quotes as they are
			break
		}
	}
	header, err := t.sheet.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty")
	}
	if err != nil {
		return nil, t.broken(err)
	}
	t.width = len(header)
	if t.at, err = columnsOf(header); err != nil {
		return nil, lineError(1, err)
	}
	return t, nil
}

func columnsOf(header []string) (at [fieldCount]int, err error) {
	for f := range at {
		at[f] = -1
	}
	titles := make([]string, len(header))
	for i, title := range header {
		titles[i] = strings.ToLower(strings.TrimSpace(title))
		f := fieldOf(titles[i])
		if f < 0 {
			continue
		}
		if at[f] >= 0 {
			return at, fmt.Errorf("columns %d and %d are both the %s", at[f]+1, i+1, fieldNames[f][0])
		}
		at[f] = i
	}
	for f, names := range otherNames {
		for _, name := range names {
			if at[f] < 0 && (field(f) != fileField || at[bagField] < 0) {
				at[f] = slices.Index(titles, name)
			}
		}
	}
	if at[bagField] < 0 {
		at[bagField] = at[fileField]
	}
	if at[bagField] < 0 || at[captionField] < 0 {
		return at, errors.New("want a header with the columns image and caption, and perhaps id and file")
	}
	return at, nil
}

// token returns the picture of the name of a caption in a token file, such as a.jpg#0.
func token(key string) (file string, ok bool) {
	at := strings.LastIndexByte(key, '#')
	if at < 1 {
		return "", false
	}
	_, err := strconv.ParseUint(key[at+1:], 10, 32)
	return key[:at], err == nil
}

// next reads a row; io.EOF after the last. Errors name the line.
func (t *rows) next() (*record, error) {
	if t.sheet == nil {
		return t.nextToken()
	}
	cells, err := t.sheet.Read()
	if err != nil {
		return nil, t.broken(err)
	}
	t.number, _ = t.sheet.FieldPos(0)
	r := &record{}
	for f, column := range t.at {
		if column < 0 {
			continue
		}
		r.values[f], r.has[f] = cells[column], true
		if field(f) != captionField || t.sheet.LazyQuotes {
			r.values[f] = strings.TrimSpace(cells[column])
		}
	}
	return r, nil
}

// broken adds to an error of the parser what is wrong with the line.
func (t *rows) broken(err error) error {
	syntax := (*csv.ParseError)(nil)
	switch {
	case !errors.As(err, &syntax):
		return err
	case errors.Is(err, csv.ErrFieldCount):
		return lineError(syntax.Line, fmt.Errorf("its number of cells is not %d, as in the header; correct the line, or "+
			"write quotes around a cell that holds %q", t.width, t.sheet.Comma))
	}
	return lineError(syntax.Line, syntax.Err)
}

func (t *rows) nextToken() (*record, error) {
	for {
		line, err := t.lines.ReadString('\n')
		if err != nil && (line == "" || !errors.Is(err, io.EOF)) {
			return nil, err
		}
		t.offset += int64(len(line))
		t.number++
		if strings.TrimSpace(line) == "" {
			continue
		}
		key, caption, tab := strings.Cut(line, "\t")
		key = strings.TrimSpace(key)
		file, ok := token(key)
		switch {
		case !tab:
			return nil, lineError(t.number, fmt.Errorf("%q has no tab between the picture and its caption; correct the "+
				"line", loader.Excerpt(strings.TrimSpace(line))))
		case !ok:
			return nil, lineError(t.number, fmt.Errorf("%q is no picture with the number of a caption, such as a.jpg#0; "+
				"correct the line", loader.Excerpt(key)))
		}
		r := &record{has: [fieldCount]bool{true, true, true, true}}
		r.values = [fieldCount]string{bagField: file, captionField: strings.TrimSpace(caption), idField: key, fileField: file}
		return r, nil
	}
}

// end is the position after the row that was read last.
func (t *rows) end() int64 {
	if t.sheet == nil {
		return t.offset
	}
	return t.sheet.InputOffset()
}

func lineError(line int, err error) error { return fmt.Errorf("line %d: %w", line, err) }
