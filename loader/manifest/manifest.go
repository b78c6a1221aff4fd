package manifest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"nmn/loader"
	"nmn/text"
)

// Manifest is a list of pictures, or of clips as lists of their frames, with labels by name. Memory grows
// with its rows and their labels, not with the text around them.
type Manifest struct {
	File    string   // the file, or the folder, that was read
	Folder  string   // folder of the pictures; names in rows are relative to it
	Labels  []string // all names, in the order in which they are met
	Rows    []Row
	Columns Columns

	// Sources are the files of a folder from which labels were read, relative to File; nil if File is a single file.
	Sources []string

	// Fields with which a writer gives labels in the form of the source.

	Form         Form   // never FormAuto
	JSONLines    bool   // a text file is JSON lines, not CSV
	WholeJSON    bool   // one array or object of JSON, whose rows are no lines
	Headless     bool   // a list of names and numbers, without a header
	LabelsColumn string // column, or key, of the labels; empty if there is none
	Separator    string // separator of names in a cell; empty for forms without one
	Mark         string // the x of a table whose empty cells are 0; empty for other tables
	Lines        []Line // that describe a row in addition to its first one

	Joined map[string]string // spellings of labels, with the labels in Labels that replace them

	Repeated int // rows that repeat an earlier one
	Denied   int // rows of confidence 0, which give no label

	found   bool              // every row's file was found when the folder was read
	columns map[string]string // the file's names of columns
}

// Row is a picture or a clip.
type Row struct {
	Line   int // line in the file; 0 if a row has no line of its own
	ID     string
	Files  []string     // relative to the folder of the pictures, or absolute; several are the frames of a clip
	Split  string       // TrainSplit, loader.ValidationSplit or TestSplit; empty where the file does not say
	Labels []int32      // observed, as indices of Manifest.Labels, ascending
	Truth  []int32      // true labels in the same form; nil if unknown
	Counts []LabelCount // nil if unknown

	fault error // why its picture cannot be used, by its name alone
}

// column returns the file's name of a column, for messages.
func (m *Manifest) column(name string) string { return cmp.Or(m.columns[name], name) }

// At returns the location of a row, for messages.
func (r *Row) At() string {
	if r.Line == 0 {
		return fmt.Sprintf("picture %q", loader.Excerpt(r.Files[0]))
	}
	return fmt.Sprintf("line %d", r.Line)
}

// Line is a further line of a row, by its number and the number of the first line of the row.
type Line struct{ Number, Row int }

// LabelCount is the number of annotators who gave a label to a row.
type LabelCount struct {
	Label int32 // index of Manifest.Labels
	Count uint8
}

// Columns describes the columns found in a manifest.
type Columns struct {
	Format  string // CSV or JSON lines
	Used    []string
	Labels  []string // columns of 0 and 1, each a label
	Truth   int      // columns of 0 and 1, each a true label
	Counts  int      // columns of counts of annotators, one per label
	Ignored []string
}

// Options describe a manifest whose names do not follow the defaults.
type Options struct {
	Form         Form     // empty and FormAuto find it
	LabelColumns []string // patterns on the names of columns that are labels
	ListColumn   string   // the column, or the key, that states all labels; empty finds it by its name
	PathColumn   string   // the column, or the key, that names the pictures; empty finds it by its name
	Ignore       []string // patterns on the names of columns that are left out
	Words        []string // the classes, if known: numbers of classes count from the first
	Images       string   // folder of the pictures; empty for the folder of the source
	// JoinLabels makes one label of those that differ in case, blanks, hyphens or underscores alone.
	JoinLabels bool
	// NoLabels reads the pictures of a text file alone. It need not have labels, and whatever else it has is ignored.
	NoLabels bool
	// LessDifficult leaves out what annotations of VOC call difficult; else it is labels as well.
	LessDifficult bool
}

// Bounds on the content of a manifest: a row of a thousand frames is below the first.
const (
	maxLine  = 1 << 20 // bytes of a row
	maxLabel = 1000    // bytes of a label
	maxRows  = 20_000_000
)

// Read reads a manifest. It accepts a folder in one of the known forms, the data.yaml of YOLO (for its folder), a file
// of COCO's instances, and a list of pictures: JSON lines if it begins with {, names and numbers if the first line has
// these, else CSV. A list may also be one array of objects, or one object of labels by the names of pictures. Files may
// be compressed (.gz). Every error about a source wraps ErrAnnotations and names file, line, column and the fix.
func Read(ctx context.Context, path string, o Options) (*Manifest, error) {
	o.Words = slices.Clone(o.Words)
	for i, word := range o.Words {
		o.Words[i] = norm.NFC.String(word)
	}
	m, err := readAny(ctx, path, o)
	if err == nil && o.JoinLabels {
		m.join(o.Words)
	}
	return m, err
}

// readAny is Read without joining labels.
func readAny(ctx context.Context, path string, o Options) (*Manifest, error) {
	extension := strings.ToLower(filepath.Ext(path))
	switch {
	case loader.IsFolder(path):
		return readFolder(ctx, path, o)
	case extension == ".yaml" || extension == ".yml":
		if o.Form == "" || o.Form == FormAuto {
			o.Form = FormYOLO
		}
		return readFolder(ctx, filepath.Dir(path), o)
	case extension == ".xml":
		return nil, loader.Unusable(fmt.Errorf("manifest %q: it describes one picture; name the folder of all", path))
	}
	coco, err := isCOCO(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	if coco || o.Form == FormCOCO {
		return readInstances(ctx, path, o)
	}
	if slices.Contains([]Form{FormFolders, FormVOC, FormYOLO, FormCaptions}, o.Form) {
		return nil, loader.Unusable(fmt.Errorf(
			"manifest %q: it is a file, whose labels cannot be stated as `data.label_form` %s; name "+
				"the folder", path, o.Form))
	}
	if o.Images == "" {
		o.Images = filepath.Dir(path)
	}
	return read(path, o, func() (io.ReadCloser, error) {
		r, err := loader.OpenText(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("manifest: %w", err)
		}
		return r, nil
	})
}

// read reads a file that open opens. If the form of labels shows only over all rows, it reads the file once
// more for that.
func read(name string, o Options, open func() (io.ReadCloser, error)) (*Manifest, error) {
	var known *statement
	if o.NoLabels {
		known = &statement{form: FormPairs, pairs: true} // a picture may have several rows
	}
	m, err := opened(name, open, func(text *bufio.Reader) (*Manifest, error) { return parse(name, text, o, known) })
	if !errors.Is(err, errUndecided) {
		return m, err
	}
	stated, err := opened(name, open, func(text *bufio.Reader) (*statement, error) {
		records, err := newRowReader(text, o, nil)
		if err != nil {
			return nil, err
		}
		return records.surveyed(&o)
	})
	if err != nil {
		return nil, err
	}
	return opened(name, open, func(text *bufio.Reader) (*Manifest, error) { return parse(name, text, o, stated) })
}

// opened returns what a function reads from a file. Its error gets the file's name.
func opened[T any](name string, open func() (io.ReadCloser, error), use func(*bufio.Reader) (T, error)) (found T,
	err error) {
	r, err := open()
	if err != nil {
		return found, err
	}
	defer r.Close()
	if found, err = use(bufio.NewReaderSize(r, 1<<16)); err != nil {
		err = loader.Unusable(fmt.Errorf("manifest %q: %w", name, err))
	}
	return found, err
}

func parse(name string, text *bufio.Reader, o Options, stated *statement) (*Manifest, error) {
	records, err := newRowReader(text, o, stated)
	if err != nil {
		return nil, err
	}
	b := newBuilder(name, o.Images)
	b.stated = stated
	for {
		record, err := records.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		b.manifest.columns = record.columns
		if err := b.add(record); err != nil {
			return nil, fmt.Errorf("line %d, %w", record.line, err)
		}
	}
	if len(b.manifest.Rows) == 0 {
		return nil, errors.New("there are no rows; want one for each picture")
	}
	b.manifest.Columns = records.columns()
	records.state(b.manifest)
	b.finish()
	return b.manifest, nil
}

// record is a row as it is written.
type record struct {
	line                  int
	path, id, split       string
	hasPath               bool
	frames, labels, truth []string // frames or truth nil: not given
	counts                []namedCount
	denied                bool              // the picture does not have the label
	columns               map[string]string // the file's names of columns, if not ours
}

// column returns the file's name of a column, for messages.
func (r *record) column(name string) string { return cmp.Or(r.columns[name], name) }

// idColumn is the column that names the row: the identifier, or else the picture.
func (r *record) idColumn() string {
	switch {
	case r.id != "":
		return r.column(idColumn)
	case r.hasPath:
		return r.column(pathColumn)
	}
	return r.column(framesColumn)
}

type namedCount struct {
	name  string
	count int
}

// rowReader reads the rows of a format; io.EOF after the last.
type rowReader interface {
	next() (*record, error)
	columns() Columns
	state(m *Manifest)                       // sets how the labels are stated, after the last row
	surveyed(o *Options) (*statement, error) // finds it, in the place of reading rows
}

// newRowReader finds the format by the first character.
func newRowReader(text *bufio.Reader, o Options, stated *statement) (rowReader, error) {
	start, _ := text.Peek(1 << 10)
	switch start = bytes.TrimLeft(start, " \t\r\n"); {
	case len(start) == 0:
		return nil, errors.New("the file is empty; want a header with columns path and labels, and rows, or JSON lines")
	case start[0] == '[' || start[0] == '{':
		return newJSONRows(text, start, o, stated), nil
	}
	if first, _, _ := bytes.Cut(start, []byte("\n")); Numbered(string(first)) {
		return &numberRows{lines: linesOf(text), stated: stated}, nil
	}
	return newCSVRows(text, o, stated)
}

// Stem is the name of the file without folder and endings, for sets.
func (m *Manifest) Stem() string {
	stem := strings.TrimSuffix(filepath.Base(m.File), ".gz")
	return strings.TrimSuffix(stem, filepath.Ext(stem))
}

// Where returns the file and the line of the first row that has a label, for messages.
func (m *Manifest) Where(label string) string {
	class := int32(slices.Index(m.Labels, label))
	for _, row := range m.Rows {
		if slices.Contains(row.Labels, class) {
			return m.File + ", " + row.At()
		}
	}
	return m.File
}

// String describes what was found in the file.
func (c Columns) String() string {
	line := c.Format
	if len(c.Used) > 0 {
		line += " with " + strings.Join(c.Used, ", ")
	}
	if len(c.Labels) > 0 {
		line += fmt.Sprintf(", %s of labels (0 or 1)", text.Count(len(c.Labels), "columns"))
	}
	if c.Truth > 0 {
		line += fmt.Sprintf(", %d of true labels (0 or 1)", c.Truth)
	}
	if c.Counts > 0 {
		line += fmt.Sprintf(", %d of counts", c.Counts)
	}
	if len(c.Ignored) > 0 {
		line += "; not used: " + FirstOf(c.Ignored, 8)
	}
	return line
}

// FirstOf lists the first names of many.
func FirstOf(names []string, most int) string {
	line := strings.Join(names[:min(most, len(names))], ", ")
	if n := len(names) - most; n > 0 {
		line += fmt.Sprintf(" and %d more", n)
	}
	return line
}
