package manifest

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"nmn/loader"
	"nmn/loader/picture"
)

// jsonRows reads a manifest as JSON lines: {"path": "a.jpg", "labels": ["dog"], "split": "train"}. The rows may also be
// the elements of one array.
type jsonRows struct {
	lines      *bufio.Scanner
	whole      *wholeJSON // in place of lines
	line       int
	row        int             // number of the row of whole, from 1
	seen       map[string]bool // keys
	keys       []string        // keys of the last row
	find       columnFinder    // among them
	o          Options
	confidence string     // key of the confidence of rows with one label; empty for none
	key        string     // key of the labels, in the rows so far
	stated     *statement // form of labels that are no arrays; nil while there were none
	survey     *survey    // collects labels while their form is unknown
}

func newJSONRows(text *bufio.Reader, start []byte, o Options, stated *statement) *jsonRows {
	return &jsonRows{lines: linesOf(text), whole: newWholeJSON(text, start), seen: map[string]bool{}, o: o, stated: stated}
}

// linesOf reads lines of at most maxLine bytes.
func linesOf(text io.Reader) *bufio.Scanner {
	lines := bufio.NewScanner(text)
	lines.Buffer(make([]byte, 0, 1<<12), maxLine)
	return lines
}

// maxShownKeys bounds the keys that are kept only to be shown in messages.
const maxShownKeys = 1000

func (j *jsonRows) columns() Columns {
	c := Columns{Format: "JSON lines"}
	if j.whole != nil {
		c.Format = "JSON"
	}
	find := findIn(slices.Sorted(maps.Keys(j.seen)))
	if name, err := find.path(j.o.PathColumn); err == nil && name != "" && name != pathColumn {
		c.Used = append(c.Used, pathColumn+" ("+name+")")
		delete(j.seen, name)
	}
	for _, field := range fieldNames() {
		name := find(field)
		if field == labelsColumn {
			name = j.key
		}
		if j.seen[name] {
			c.Used = append(c.Used, name)
		}
		delete(j.seen, name)
	}
	if j.confidence != "" {
		c.Used = append(c.Used, j.confidence)
		delete(j.seen, j.confidence)
	}
	c.Ignored = slices.Sorted(maps.Keys(j.seen))
	return c
}

func (j *jsonRows) state(m *Manifest) {
	m.Form, m.JSONLines, m.WholeJSON, m.LabelsColumn = FormJSON, j.whole == nil, j.whole != nil, j.key
	if j.stated != nil {
		m.Form, m.Separator = j.stated.form, forms[j.stated.form].separator
	}
}

// surveyed examines labels that are no arrays, and returns their form.
func (j *jsonRows) surveyed(o *Options) (*statement, error) {
	j.survey = newSurvey(labelsColumn)
	for {
		_, err := j.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	j.survey.column = j.key
	return j.survey.decide(o)
}

func (j *jsonRows) next() (*record, error) {
	content, err := j.content()
	if err != nil {
		return nil, err
	}
	r, err := j.record(content)
	switch {
	case err != nil && j.whole != nil:
		return nil, fmt.Errorf("line %d, row %d, %w", j.line, j.row, err)
	case err != nil:
		return nil, fmt.Errorf("line %d, %w", j.line, err)
	}
	return r, nil
}

// content returns the text of the next row; io.EOF after the last.
func (j *jsonRows) content() (content []byte, err error) {
	if j.whole != nil {
		j.row++
		if content, j.line, err = j.whole.next(); err != nil && !errors.Is(err, io.EOF) {
			err = fmt.Errorf("line %d, %w", j.line, err)
		}
		return content, err
	}
	for j.lines.Scan() {
		j.line++
		if content = bytes.TrimSpace(j.lines.Bytes()); len(content) > 0 {
			return content, nil
		}
	}
	switch err := j.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("line %d: longer than %d bytes; write each row on a line of its own", j.line+1, maxLine)
	case err != nil:
		return nil, fmt.Errorf("after line %d: %w", j.line, err)
	}
	return nil, io.EOF
}

func (j *jsonRows) record(content []byte) (*record, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(content, &fields); err != nil {
		return nil, fmt.Errorf("not a JSON object (%w); want a row such as {\"path\": \"a.jpg\", \"labels\": "+
			"[\"dog\"]}, whole on its line", err)
	}
	for key := range fields {
		if !j.seen[key] && len(j.seen) < maxShownKeys {
			j.seen[key] = true
		}
	}
	find := j.columnFinder(slices.Sorted(maps.Keys(fields)))
	r := &record{line: j.line, columns: map[string]string{}}
	if j.o.NoLabels {
		r.labels = []string{}
	} else if err := j.labels(r, fields, find); err != nil {
		return nil, err
	}
	before := len(fields)
	maps.DeleteFunc(fields, func(_ string, value json.RawMessage) bool { return string(value) == "null" })
	if len(fields) < before {
		find = findIn(slices.Sorted(maps.Keys(fields)))
	}
	path, err := find.path(j.o.PathColumn)
	if err != nil {
		return nil, err
	}
	for _, field := range fieldNames() {
		if name := find(field); name != "" && r.columns[field] == "" {
			r.columns[field] = name
		}
	}
	r.columns[pathColumn] = cmp.Or(path, pathColumn)
	if key := find(confidenceColumn); key != "" && !j.o.NoLabels && j.stated != nil && j.stated.pairs {
		j.confidence, r.denied = key, denies(strings.Trim(string(fields[key]), `"`))
	}
	var counts map[string]int
	for _, field := range []struct {
		name, want string
		to         any
	}{
		{pathColumn, "text", &r.path}, {idColumn, "text", &r.id}, {splitColumn, "train, validation or test", &r.split},
		{framesColumn, `a list of paths`, &r.frames},
		{truthColumn, `a list of names such as ["dog", "cat"]`, &r.truth},
		{countsColumn, `an object such as {"dog": 3}`, &counts},
	} {
		value := fields[r.column(field.name)]
		if value == nil || j.o.NoLabels && !slices.Contains(ofPictures, field.name) {
			continue
		}
		if err := json.Unmarshal(value, field.to); err != nil {
			return nil, columnError(r.column(field.name), fmt.Errorf("%s is not %s", loader.Excerpt(string(value)), field.want))
		}
	}
	r.hasPath = path != ""
	if counts != nil {
		r.counts = make([]namedCount, 0, len(counts))
		for _, name := range slices.Sorted(maps.Keys(counts)) {
			r.counts = append(r.counts, namedCount{name, counts[name]})
		}
	}
	return r, nil
}

// columnFinder finds keys of a row, which has mostly the keys of the row above.
func (j *jsonRows) columnFinder(keys []string) columnFinder {
	if j.find == nil || !slices.Equal(keys, j.keys) {
		j.keys, j.find = keys, findIn(keys)
	}
	return j.find
}

// labels takes the labels of a row: an array of names, or text or a number as in a cell of CSV.
func (j *jsonRows) labels(r *record, fields map[string]json.RawMessage, find columnFinder) error {
	key, err := j.labelKey(fields, find)
	if err != nil {
		return err
	}
	j.key, r.columns[labelsColumn] = key, key
	value := fields[key]
	if value[0] == '[' {
		names, ok := jsonArray(string(value))
		if !ok {
			return columnError(key, fmt.Errorf(`%s is not a list of names such as ["dog", "cat"]`,
				loader.Excerpt(string(value))))
		}
		r.labels = withoutEmpty(names)
		return nil
	}
	var cell string
	if value[0] == '"' {
		err = json.Unmarshal(value, &cell)
	} else if _, ok := wholeNumber(string(value)); ok {
		cell = string(value)
	} else {
		err = fmt.Errorf(`%s is neither a list of names such as ["dog", "cat"], nor text, nor the number of a class`,
			loader.Excerpt(string(value)))
	}
	if err != nil {
		return columnError(key, err)
	}
	switch {
	case j.survey != nil:
		j.survey.add(cell)
		r.labels = []string{}
	case j.stated == nil:
		return errUndecided
	default:
		if r.labels, err = j.stated.names(cell); err != nil {
			return columnError(key, err)
		}
	}
	return nil
}

// labelKey is the key of a row's labels, the same in all rows.
func (j *jsonRows) labelKey(fields map[string]json.RawMessage, find columnFinder) (string, error) {
	if j.key != "" && fields[j.key] != nil {
		return j.key, nil
	}
	keys, err := find.labels(&j.o)
	switch {
	case err != nil:
		return "", err
	case j.key != "" || len(keys) == 0:
		return "", columnError(cmp.Or(j.key, labelsColumn), errors.New("it is missing; an empty list is []"))
	case len(keys) > 1:
		return "", fmt.Errorf("keys %q and %q may both hold the labels; set which (`data.features.list_column`)", keys[0],
			keys[1])
	}
	return keys[0], nil
}

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
