package annotation

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nmn/loader"
)

// field is the role of a column of a table of captions, or of a key of a line of JSON.
type field int

const (
	bagField field = iota
	captionField
	idField
	fileField
	fieldCount
)

// fieldNames are the names of the fields, the first of them for messages.
var fieldNames = [fieldCount][]string{
	bagField:     {"sample", "image_id", "video_id"},
	captionField: {"caption"},
	idField:      {"id", "annotation_id", "sen_id"},
	fileField:    {"file", "file_name"},
}

// otherNames are names that other data sets have for fields, the most certain first. They count if there is no name of
// fieldNames, and for pictures also no bag. Without bags, each picture is one.
var otherNames = [fieldCount][]string{
	captionField: {"captions", "comment", "text"},
	fileField:    {"image", "image_name", "filename", "picture"},
}

// fieldOf is the field of a name, -1 for none.
func fieldOf(name string) field {
	for f, names := range fieldNames {
		if slices.Contains(names, name) {
			return field(f)
		}
	}
	return -1
}

// record is a line of a table; absent fields are empty.
type record struct {
	values [fieldCount]string
	has    [fieldCount]bool

	// captions is the list of captions of an object of JSON, at the key list. It is nil for records with one caption.
	captions []string
	list     string
}

type tableReader struct {
	bags     *Bags
	position map[string]int // position of each bag
	ids      map[string]int // line of each caption
	records  int
	named    bool // the captions have identifiers of their own
}

// add takes a record. An identifier of one with a list of captions is not that of a caption.
func (t *tableReader) add(line int, r *record) error {
	if r.captions == nil {
		return t.addCaption(line, r)
	}
	if _, err := t.bag(r); err != nil {
		return err
	}
	one := *r
	one.has[idField] = false
	for _, one.values[captionField] = range r.captions {
		if err := t.addCaption(line, &one); err != nil {
			return err
		}
	}
	return nil
}

func (t *tableReader) addCaption(line int, r *record) error {
	switch {
	case !r.has[captionField]:
		return errors.New("the caption is missing")
	case t.records == maxElements:
		return fmt.Errorf("more than %d captions", maxElements)
	case t.records == 0:
		t.named = r.has[idField]
	case t.named != r.has[idField]:
		return errors.New("some captions have an id and others none: give all of them one")
	}
	t.records++
	id := r.values[idField]
	if !t.named {
		id = strconv.Itoa(t.records)
	} else if id == "" {
		return errors.New("the id is empty")
	}
	if first, ok := t.ids[id]; ok {
		return fmt.Errorf("id %q repeats line %d", loader.Excerpt(id), first)
	}
	if t.named {
		t.ids[id] = line
	}
	at, err := t.bag(r)
	if err != nil {
		return err
	}
	caption := BagCaption{ID: strings.Clone(id), Text: strings.Clone(r.values[captionField])}
	t.bags.Captions[at] = append(t.bags.Captions[at], caption)
	return nil
}

// bag returns the position of a record's bag, which may be new.
func (t *tableReader) bag(r *record) (at int, err error) {
	if !r.has[bagField] || r.values[bagField] == "" {
		return 0, errors.New("the sample, or its picture, is missing")
	}
	at, ok := t.position[r.values[bagField]]
	if !ok {
		at = len(t.bags.IDs)
		bag := strings.Clone(r.values[bagField])
		t.position[bag] = at
		t.bags.IDs, t.bags.Files = append(t.bags.IDs, bag), append(t.bags.Files, "")
		t.bags.Captions = append(t.bags.Captions, nil)
	}
	return at, t.setFile(at, r.values[fileField])
}

// setFile notes the picture of a bag; lines may leave it out. Programs also write absolute paths.
func (t *tableReader) setFile(bag int, file string) error {
	if file == "" {
		return nil
	}
	native := filepath.FromSlash(file)
	if strings.ContainsRune(file, 0) || !filepath.IsLocal(native) && !filepath.IsAbs(native) {
		return fmt.Errorf("file %q is not a path inside the folder of pictures, nor an absolute one",
			loader.Excerpt(file))
	}
	if before := t.bags.Files[bag]; before != "" && before != file {
		return fmt.Errorf("file %q of sample %q is %q in a line before", loader.Excerpt(file),
			loader.Excerpt(t.bags.IDs[bag]), loader.Excerpt(before))
	}
	t.bags.Files[bag] = strings.Clone(file)
	return nil
}

// read takes all records. next returns one with its number, and io.EOF after the last; unit is what is counted.
func (t *tableReader) read(unit string, next func() (number int, r *record, err error)) error {
	for {
		number, r, err := next()
		if errors.Is(err, io.EOF) && t.records > 0 {
			return nil
		}
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("captions %q: there are no captions", t.bags.Name)
		}
		if err == nil {
			err = t.add(number, r)
		}
		if err != nil && number > 0 {
			err = fmt.Errorf("%s %d: %w", unit, number, err)
		}
		if err != nil {
			return fmt.Errorf("captions %q: %w", t.bags.Name, err)
		}
	}
}

func (t *tableReader) readCSV(text io.Reader) error {
	budget := &budgetReader{r: text, granted: maxElementBytes}
	rows, err := newRows(budget)
	return t.read("line", func() (int, *record, error) {
		if err != nil {
			return 0, nil, err
		}
		budget.granted = min(rows.end()+maxElementBytes, maxFileBytes)
		r, err := rows.next() // its errors name the line
		if err != nil {
			return 0, nil, err
		}
		return rows.number, r, nil
	})
}

func (t *tableReader) readLines(text io.Reader) error {
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, maxElementBytes)
	n := 0
	return t.read("line", func() (int, *record, error) {
		for lines.Scan() && lines.Err() == nil { // a line that could not be read to its end comes with the error
			n++
			if len(bytes.TrimSpace(lines.Bytes())) > 0 {
				r, err := parseLine(lines.Bytes())
				return n, r, err
			}
		}
		if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
			return n + 1, nil, fmt.Errorf("longer than %d bytes", maxElementBytes)
		} else if err != nil {
			return 0, nil, err
		}
		return 0, nil, io.EOF
	})
}

func (t *tableReader) readArray(text io.Reader) error {
	d, err := rowsOf(text)
	return t.read("row", func() (int, *record, error) {
		if err != nil {
			return 0, nil, err
		}
		raw, err := d.next() // its errors name the row
		if err != nil {
			return 0, nil, err
		}
		r, err := parseLine(raw)
		return d.row, r, err
	})
}

// arrayRows reads the elements of an array of JSON one by one.
type arrayRows struct {
	json   *json.Decoder
	budget *budgetReader
	row    int // number of the last one, from 1
}

// rowsOf reads the bracket that begins an array.
func rowsOf(text io.Reader) (*arrayRows, error) {
	a := &arrayRows{budget: &budgetReader{r: text, granted: maxElementBytes}}
	a.json = json.NewDecoder(a.budget)
	_, err := a.json.Token()
	return a, err
}

// next returns an element; io.EOF after the last.
func (a *arrayRows) next() (raw json.RawMessage, err error) {
	a.budget.granted = min(a.json.InputOffset()+maxElementBytes, maxFileBytes)
	if !a.json.More() {
		if _, err := a.json.Token(); err != nil { // the bracket that ends the array
			return nil, fmt.Errorf("after row %d: %w", a.row, noEOF(err))
		}
		return nil, io.EOF
	}
	a.row++
	if err := a.json.Decode(&raw); err != nil {
		return nil, fmt.Errorf("row %d: %w", a.row, noEOF(err))
	}
	return raw, nil
}

// noEOF prevents the end of a file from being mistaken for the end of its rows.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// HoldsCaption reports whether an object of JSON is a row of captions, by its keys.
func HoldsCaption(object []byte) bool {
	r, err := parseLine(object)
	return err == nil && r.has[bagField] && r.has[captionField]
}

// parseLine reads an object of JSON. Identifiers may be strings or whole numbers.
func parseLine(line []byte) (*record, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(line, &object); err != nil {
		return nil, err
	}
	if object == nil {
		return nil, errors.New("null instead of an object")
	}
	r := &record{}
	for f, names := range fieldNames {
		for i, name := range append(slices.Clone(names), otherNames[f]...) {
			raw, ok := object[name]
			if !ok || string(raw) == "null" || i >= len(names) && (r.has[f] || field(f) == fileField && r.has[bagField]) {
				continue
			}
			if r.has[f] {
				return nil, fmt.Errorf("%s is given twice, by %s", names[0], strings.Join(names, ", "))
			}
			if field(f) == captionField && raw[0] == '[' {
				r.captions, r.list, r.has[f] = []string{}, name, true
				if err := json.Unmarshal(raw, &r.captions); err != nil {
					return nil, fmt.Errorf("%s: want a list of strings", name)
				}
				continue
			}
			value, err := textOf(raw, field(f))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if field(f) != captionField {
				value = strings.TrimSpace(value)
			}
			r.values[f], r.has[f] = value, true
		}
	}
	if !r.has[bagField] && r.has[fileField] {
		r.values[bagField], r.has[bagField] = r.values[fileField], true
	}
	return r, nil
}

func textOf(raw json.RawMessage, f field) (string, error) {
	var s string
	if raw[0] == '"' {
		return s, json.Unmarshal(raw, &s)
	}
	if _, err := strconv.ParseInt(string(raw), 10, 64); err == nil && (f == bagField || f == idField) {
		return string(raw), nil
	}
	if f == bagField || f == idField {
		return "", errors.New("want a string or a whole number")
	}
	return "", errors.New("want a string")
}
