package annotators

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"nmn/loader"
	"nmn/loader/features"
	"nmn/loader/manifest"
)

// Columns of a CSV file, and keys of JSON lines.
const (
	sampleColumn    = "sample"
	annotatorColumn = "annotator"
	labelsColumn    = "labels"
	unknownColumn   = "unknown"
	askedColumn     = "asked"
)

// Table is a file of labels by several annotators.
type Table struct {
	Input
	BagIDs         []string // in the order in which they are met, or as ReadOptions has them
	AnnotatorNames []string // in the order in which they are met
	Words          []string // names of the classes, in order of appearance or as in ReadOptions
	Outside        int      // labels that were left out, for they are none of ReadOptions.Words
	Ignored        []string // columns that are none of the table's
}

// ReadOptions describe a table beyond its rows.
type ReadOptions struct {
	Words []string // the classes; nil for all labels that are met. Other labels are left out, and counted
	Bags  []string // the bags; nil for all that are met. Another bag is an error
}

// maxLine bounds the bytes of a row.
const maxLine = 1 << 20

// columnNamed returns the name among some that a column of the table may have, and otherwise the table's own name.
func columnNamed(own string, names []string) string {
	others := map[string]func(string) bool{labelsColumn: manifest.NamesLabels, annotatorColumn: namesAnnotators}
	if other := others[own]; other != nil && !slices.Contains(names, own) {
		if at := slices.IndexFunc(names, other); at >= 0 {
			return names[at]
		}
	}
	return own
}

// namesAnnotators reports whether a column, or a key, of this name names the annotators.
func namesAnnotators(name string) bool {
	return slices.Contains([]string{"worker", "workerid", "annotatorid", "rater", "labeler", "labeller", "user", "userid"},
		strings.ToLower(strings.NewReplacer("_", "", " ", "", "-", "").Replace(name)))
}

// namesSamples reports whether a column, or a key, of this name names what an annotator has labelled.
func namesSamples(name string) bool {
	return slices.Contains([]string{sampleColumn, "item", "id"}, name) || manifest.NamesPictures(name)
}

// sampleIn returns the name among some that names the samples, the most certain first. It is sampleColumn if there is
// none.
func sampleIn(names []string) string {
	for _, name := range names {
		if namesSamples(name) && name != "id" {
			return name
		}
	}
	if slices.Contains(names, "id") {
		return "id"
	}
	return sampleColumn
}

// read reads labels by several annotators, plain or .gz: JSON lines where the file begins with {, else CSV with the
// columns sample, annotator and labels. Other names of the first are item, id and the names that manifests have for
// pictures. Lists of labels are written as in a manifest, with ; or | between names; empty
// and - are none. Two more columns may be there: unknown lists labels that the annotator left open, and asked those
// that it was asked about, empty for all. Everything wrong with a row is an error that wraps ErrInput and names
// file, line, column and the cure.
func read(ctx context.Context, path string, o ReadOptions) (*Table, error) {
	r, err := loader.OpenText(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("labels of annotators: %w", err)
	}
	defer r.Close()
	return Parse(path, r, o)
}

// Parse is read for a stream of plain text; name stands in messages.
func Parse(name string, r io.Reader, o ReadOptions) (*Table, error) {
	t, err := parse(bufio.NewReaderSize(r, 1<<16), newBuilder(o))
	if err != nil {
		return nil, inputError{fmt.Errorf("labels of annotators %q: %w", name, err)}
	}
	return t, nil
}

// record is a row as it is written.
type record struct {
	line                   int
	bag, annotator         string
	column                 string   // the file's name of the column of samples
	labels, unknown, asked []string // asked nil: all
}

// rowReader reads the rows of a format; io.EOF after the last. A record is good until the next one is read.
type rowReader interface{ next(r *record) error }

func parse(text *bufio.Reader, b *builder) (*Table, error) {
	rows, err := b.reader(text)
	if err != nil {
		return nil, err
	}
	for {
		var r record
		err := rows.next(&r)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = b.add(&r)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d, %w", r.line, err)
		}
	}
	t := b.table
	if len(t.Rows) == 0 {
		return nil, errors.New("there are no rows; want one for each annotator of each sample")
	}
	t.Bags, t.Annotators, t.Classes = len(t.BagIDs), len(t.AnnotatorNames), len(t.Words)
	return t, nil
}

// reader finds the format by the first character.
func (b *builder) reader(text *bufio.Reader) (rowReader, error) {
	start, _ := text.Peek(1 << 10)
	switch start = bytes.TrimLeft(start, " \t\r\n"); {
	case len(start) == 0:
		return nil, errors.New("the file is empty; want a header picture,annotator,labels and rows, or JSON lines")
	case start[0] == '[':
		return nil, errors.New("it is one array of JSON; write each element on a line of its own (JSON lines)")
	case start[0] == '{':
		lines := bufio.NewScanner(text)
		lines.Buffer(make([]byte, 0, 1<<12), maxLine)
		return &jsonRows{lines: lines}, nil
	}
	sheet, err := features.NewSheet(text, maxLine)
	if err != nil {
		return nil, err
	}
	c := &csvRows{sheet: sheet}
	b.table.Ignored, err = c.header()
	return c, err
}

// csvRows reads a table. Its columns are positions, -1 if absent.
type csvRows struct {
	sheet                                  *features.Sheet
	bag, annotator, labels, unknown, asked int
	name                                   string // of the column of the samples
}

// header finds the columns and returns those that are not used.
func (c *csvRows) header() (ignored []string, err error) {
	names := c.sheet.Columns()
	c.name = sampleIn(names)
	for _, column := range []struct {
		name string
		at   *int
		must bool
	}{{c.name, &c.bag, true}, {columnNamed(annotatorColumn, names), &c.annotator, true},
		{columnNamed(labelsColumn, names), &c.labels, true},
		{unknownColumn, &c.unknown, false}, {askedColumn, &c.asked, false}} {
		if *column.at = slices.Index(names, column.name); *column.at < 0 && column.must {
			missing := column.name
			if missing == sampleColumn {
				missing += " or picture"
			}
			return nil, fmt.Errorf("line 1: there is no column %s, columns are %s; want the header "+
				"picture,annotator,labels above the rows", missing, loader.Excerpt(strings.Join(names, ", ")))
		}
	}
	for i, name := range names {
		if !slices.Contains([]int{c.bag, c.annotator, c.labels, c.unknown, c.asked}, i) {
			ignored = append(ignored, name)
		}
	}
	return ignored, nil
}

func (c *csvRows) next(r *record) error {
	err := c.sheet.Next()
	if r.line = c.sheet.Line(); err != nil {
		return err
	}
	r.column = c.name
	r.bag, r.annotator = c.sheet.Text(c.bag), c.sheet.Text(c.annotator)
	r.labels = manifest.SplitNames(c.sheet.Text(c.labels))
	if c.unknown >= 0 {
		r.unknown = manifest.SplitNames(c.sheet.Text(c.unknown))
	}
	if c.asked >= 0 {
		if cell := c.sheet.Text(c.asked); cell != "" {
			r.asked = manifest.SplitNames(cell)
		}
	}
	return nil
}

// jsonRows reads JSON lines: {"picture": "a", "annotator": "ann", "labels": ["dog"]}.
type jsonRows struct {
	lines *bufio.Scanner
	line  int
}

func (j *jsonRows) next(r *record) error {
	for j.lines.Scan() {
		j.line++
		r.line = j.line
		if content := bytes.TrimSpace(j.lines.Bytes()); len(content) > 0 {
			return r.fromJSON(content)
		}
	}
	switch r.line = j.line + 1; {
	case errors.Is(j.lines.Err(), bufio.ErrTooLong):
		return fmt.Errorf("longer than %d bytes; write each row on a line of its own", maxLine)
	case j.lines.Err() != nil:
		return j.lines.Err()
	}
	return io.EOF
}

func (r *record) fromJSON(content []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(content, &fields); err != nil {
		return fmt.Errorf("not a JSON object (%w); want a row such as {\"picture\": \"a\", \"annotator\": \"ann\", "+
			"\"labels\": [\"dog\"]}, whole on its line", err)
	}
	keys := slices.Sorted(maps.Keys(fields))
	r.column = sampleIn(keys)
	for _, field := range []struct {
		name string
		to   *string
	}{{r.column, &r.bag}, {columnNamed(annotatorColumn, keys), &r.annotator}} {
		value := fields[field.name]
		var number json.Number
		if err := json.Unmarshal(value, field.to); err != nil && json.Unmarshal(value, &number) == nil {
			*field.to = number.String() // an identifier that is written as a number
		} else if err != nil || string(value) == "null" {
			return columnError(field.name, fmt.Errorf("%q is not text", loader.Excerpt(string(value))))
		}
	}
	for _, field := range []struct {
		name string
		to   *[]string
		must bool
	}{{columnNamed(labelsColumn, keys), &r.labels, true}, {unknownColumn, &r.unknown, false},
		{askedColumn, &r.asked, false}} {
		value := fields[field.name]
		absent := value == nil || string(value) == "null"
		if absent && !field.must {
			continue
		}
		if absent || json.Unmarshal(value, field.to) != nil {
			return columnError(field.name, fmt.Errorf("%q is not a list of names such as [\"dog\", \"cat\"]; an empty list "+
				"is []", loader.Excerpt(string(value))))
		}
	}
	return nil
}

func columnError(column string, err error) error { return fmt.Errorf("column %q: %w", column, err) }

// builder checks rows and keeps them.
type builder struct {
	table                   *Table
	bags, annotators, words map[string]int32
	fixedBags, fixedWords   bool
	lines                   map[int64]int // per bag and annotator
}

func newBuilder(o ReadOptions) *builder {
	b := &builder{table: &Table{}, fixedBags: o.Bags != nil, fixedWords: o.Words != nil,
		bags: map[string]int32{}, annotators: map[string]int32{}, words: map[string]int32{}, lines: map[int64]int{}}
	for i, id := range o.Bags {
		b.bags[id] = int32(i)
	}
	for k, word := range o.Words {
		b.words[word] = int32(k)
	}
	b.table.BagIDs, b.table.Words = slices.Clone(o.Bags), slices.Clone(o.Words)
	return b
}

func (b *builder) add(r *record) error {
	t := b.table
	if len(t.Rows) == maxMarks {
		return fmt.Errorf("there are more than %d rows", maxMarks)
	}
	var row Row
	var err error
	if row.Bag, err = b.bag(r.bag); err != nil {
		return columnError(r.column, err)
	}
	if row.Annotator, err = index(b.annotators, &t.AnnotatorNames, r.annotator, manifest.CheckName); err != nil {
		return columnError(annotatorColumn, err)
	}
	key := int64(row.Bag)<<32 | int64(row.Annotator)
	if first, ok := b.lines[key]; ok {
		return fmt.Errorf("annotator %q has labelled sample %q in line %d already; join the two rows, or take one out",
			loader.Excerpt(r.annotator), loader.Excerpt(r.bag), first)
	}
	b.lines[key] = r.line
	for _, list := range []struct {
		column string
		names  []string
		to     *[]int32
	}{{labelsColumn, r.labels, &row.Given}, {unknownColumn, r.unknown, &row.Unknown}, {askedColumn, r.asked,
		&row.Asked}} {
		if list.names == nil {
			continue
		}
		if *list.to, err = b.indices(list.names); err != nil {
			return columnError(list.column, err)
		}
	}
	if err := b.consistent(&row); err != nil {
		return err
	}
	t.Rows = append(t.Rows, row)
	return nil
}

func (b *builder) bag(id string) (int32, error) {
	if _, ok := b.bags[id]; ok || !b.fixedBags {
		return index(b.bags, &b.table.BagIDs, id, manifest.CheckName)
	}
	return 0, fmt.Errorf("%q is not one of the samples of the scores or of the list of samples; add it there, or take "+
		"its rows out", loader.Excerpt(id))
}

// index returns the number of a name, a new one when the name first appears.
func index(numbers map[string]int32, names *[]string, name string, check func(string) error) (int32, error) {
	if i, ok := numbers[name]; ok {
		return i, nil
	}
	if err := check(name); err != nil {
		return 0, err
	}
	if len(*names) == maxMarks {
		return 0, fmt.Errorf("there are more than %d different names", maxMarks)
	}
	i, name := int32(len(*names)), strings.Clone(name)
	*names, numbers[name] = append(*names, name), i
	return i, nil
}

// indices returns the indices of labels, ascending and never nil; a label given twice counts once.
func (b *builder) indices(names []string) ([]int32, error) {
	list := make([]int32, 0, len(names))
	for _, name := range names {
		if _, ok := b.words[name]; !ok && b.fixedWords {
			if err := manifest.CheckLabel(name); err != nil {
				return nil, err
			}
			b.table.Outside++
			continue
		}
		k, err := index(b.words, &b.table.Words, name, manifest.CheckLabel)
		if err != nil {
			return nil, err
		}
		list = append(list, k)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// consistent refuses labels that are given, and unknown or not asked for.
func (b *builder) consistent(row *Row) error {
	for _, k := range row.Given {
		word := loader.Excerpt(b.table.Words[k])
		if _, open := slices.BinarySearch(row.Unknown, k); open {
			return columnError(unknownColumn, fmt.Errorf("label %q is given too; choose one", word))
		}
		if _, asked := slices.BinarySearch(row.Asked, k); row.Asked != nil && !asked {
			return columnError(askedColumn, fmt.Errorf("label %q is given and not asked for; add it", word))
		}
	}
	return nil
}
