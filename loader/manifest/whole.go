package manifest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"nmn/loader/picture"
)

// wholeJSON reads the rows of one array of objects, or of one object that gives labels by the names of pictures.
type wholeJSON struct {
	text  *lineReader
	json  *json.Decoder
	keyed bool // an object
	begun bool
}

// newWholeJSON takes a text that begins with an array, or with an object whose first key is the name of a picture or
// video. It returns nil for JSON lines.
func newWholeJSON(text *bufio.Reader, start []byte) *wholeJSON {
	if start[0] == '{' {
		d := json.NewDecoder(bytes.NewReader(start))
		_, _ = d.Token()
		key, _ := d.Token() // nil for anything cut short
		if name, _ := key.(string); !picture.IsName(name) && !picture.IsVideoName(name) {
			return nil
		}
	}
	w := &wholeJSON{text: &lineReader{text: text, line: 1}, keyed: start[0] == '{'}
	w.json = json.NewDecoder(w.text)
	return w
}

// next returns a row as an object, and its line; io.EOF after the last.
func (w *wholeJSON) next() (row []byte, line int, err error) {
	if !w.begun {
		w.begun = true
		if _, err := w.json.Token(); err != nil {
			return nil, 1, err
		}
	}
	w.text.from = w.json.InputOffset()
	if !w.json.More() {
		return nil, w.text.at(w.json.InputOffset()), w.end()
	}
	var key json.Token
	if w.keyed {
		if key, err = w.json.Token(); err != nil {
			return nil, w.text.at(w.json.InputOffset()), err
		}
	}
	var value json.RawMessage
	if err := w.json.Decode(&value); err != nil {
		return nil, w.text.at(w.json.InputOffset()), ended(err)
	}
	line = w.text.at(w.json.InputOffset() - int64(len(value)))
	if !w.keyed {
		return value, line, nil
	}
	fields := map[string]json.RawMessage{}
	if value[0] != '{' {
		fields[labelsColumn] = value
	} else if err := json.Unmarshal(value, &fields); err != nil {
		return nil, line, err
	}
	if fields[pathColumn], err = json.Marshal(key); err == nil {
		row, err = json.Marshal(fields)
	}
	return row, line, err
}

// end reads the end of the array or object, which nothing may follow.
func (w *wholeJSON) end() error {
	if _, err := w.json.Token(); err != nil {
		return ended(err)
	}
	if _, err := w.json.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the end of the JSON; remove it")
	}
	return io.EOF
}

// ended names the end of a text in the middle of its JSON.
func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the file ends early; copy or write it again")
	}
	return err
}

// lineReader notes where lines end, and refuses rows that are too long.
type lineReader struct {
	text io.Reader
	read int64
	from int64   // where a row begins
	ends []int64 // of lines not yet passed
	line int     // that begins after the ends passed
}

func (l *lineReader) Read(p []byte) (int, error) {
	if l.read-l.from > 2*maxLine { // the decoder reads ahead
		return 0, fmt.Errorf("a row of more than %d bytes", maxLine)
	}
	n, err := l.text.Read(p[:min(len(p), maxLine/2)])
	for i, b := range p[:n] {
		if b == '\n' {
			l.ends = append(l.ends, l.read+int64(i))
		}
	}
	l.read += int64(n)
	return n, err
}

// at is the line of a position, which is not before the last one.
func (l *lineReader) at(position int64) int {
	passed, _ := slices.BinarySearch(l.ends, position)
	l.ends = l.ends[passed:]
	l.line += passed
	return l.line
}
