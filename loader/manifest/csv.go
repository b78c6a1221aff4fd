package manifest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	slashed "path"
	"slices"
	"strconv"
	"strings"

	"nmn/loader"
	"nmn/loader/features"
	"nmn/loader/picture"
)

// Cells of a CSV manifest that are no lists.
const (
	unknownCell = "?" // in truth and counts: unknown
	noneCell    = "-" // in truth and counts: known, and none holds
)

// csvRows reads a manifest as a table. Columns have the names of its fields, or truth:LABEL and counts:LABEL.
// If no column has all labels, all others are labels and hold 0 or 1.
type csvRows struct {
	sheet                 *features.Sheet
	layout                Columns
	stated                *statement // nil while it is not known which of the columns asked state labels, and how
	asked                 []string
	sole                  bool              // asked is the only column next to the pictures, and its name says nothing
	at                    map[string]int    // columns of the fields
	named                 map[string]string // their names in the file
	labels, truth, counts []labelColumn
	bars, semicolons      bool // separators that split lists

	// For columns of 0 and 1: spelled is set if a cell has another spelling than x, mark is the last x, and blank is the
	// error of the first empty cell.
	spelled bool
	mark    string
	blank   error
}

// Header returns the names in the header of a CSV table.
func Header(ctx context.Context, file string) ([]string, error) {
	return opened(file, func() (io.ReadCloser, error) { return loader.OpenText(ctx, file) },
		func(text *bufio.Reader) ([]string, error) {
			sheet, err := features.NewSheet(text, maxLine)
			if err != nil {
				return nil, err
			}
			return sheet.Columns(), nil
		})
}

func newCSVRows(text *bufio.Reader, o Options, stated *statement) (*csvRows, error) {
	sheet, err := features.NewSheet(text, maxLine)
	if err != nil {
		return nil, err
	}
	c := &csvRows{sheet: sheet, layout: Columns{Format: "CSV"}, at: map[string]int{}, named: map[string]string{},
		stated: stated}
	ignored := func(column string) bool {
		return marked(o.Ignore, column) || strings.HasPrefix(column, features.UnnamedColumn)
	}
	find := findIn(slices.DeleteFunc(slices.Clone(sheet.Columns()), ignored))
	if stated == nil {
		if c.asked, err = find.labels(&o); err != nil {
			return nil, c.inHeader(err)
		}
		if len(c.asked) == 0 {
			c.stated = &statement{form: FormColumns}
		}
	}
	path, err := find.path(o.PathColumn)
	if err != nil {
		return nil, c.inHeader(err)
	}
	if stated == nil && len(c.asked) == 0 && path != "" && len(o.LabelColumns) == 0 && o.Form != FormColumns {
		if c.asked = others(sheet.Columns(), path, find, ignored); len(c.asked) == 1 {
			c.sole, c.stated = true, nil
		} else {
			c.asked = nil
		}
	}
	c.sort(path, find, ignored, &o)
	c.layout.Truth, c.layout.Counts = len(c.truth), len(c.counts)
	return c, c.check(o.NoLabels)
}

// others are the columns that are neither path nor another field, nor true labels or counts.
func others(columns []string, path string, find columnFinder, ignored func(string) bool) (names []string) {
	fields := []string{path}
	for _, field := range fieldNames() {
		fields = append(fields, find(field))
	}
	for _, name := range columns {
		if !ignored(name) && !slices.Contains(fields, name) && !strings.HasPrefix(name, truthPrefix) &&
			!strings.HasPrefix(name, countsPrefix) {
			names = append(names, name)
		}
	}
	return names
}

// ofPictures are the fields that name pictures or clips.
var ofPictures = []string{pathColumn, framesColumn, idColumn}

func marked(patterns []string, column string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := slashed.Match(pattern, column)
		return pattern == column || err == nil && ok
	})
}

// inHeader adds the names in the header to an error about it.
func (c *csvRows) inHeader(err error) error {
	return fmt.Errorf("line 1: %w; columns are %s", err, loader.Excerpt(strings.Join(c.sheet.Columns(), ", ")))
}

// sort finds out what each column is; path is the name of the column of the pictures.
func (c *csvRows) sort(path string, find columnFinder, ignored func(string) bool, o *Options) {
	fields := map[string]string{} // by the names that they have in the file
	for _, field := range fieldNames() {
		if name := find(field); field != labelsColumn && name != "" {
			fields[name] = field
		}
	}
	for i, name := range c.sheet.Columns() {
		switch {
		case ignored(name), o.NoLabels && name != path && !slices.Contains(ofPictures, fields[name]):
			c.layout.Ignored = append(c.layout.Ignored, name)
		case name == path && name != pathColumn:
			c.take(pathColumn, i, pathColumn+" ("+name+")")
		case c.stated != nil && name == c.stated.column:
			c.take(labelsColumn, i, name)
		case fields[name] != "" && (fields[name] != pathColumn || name == path):
			c.take(fields[name], i, name)
		case c.stated != nil && c.stated.pairs && name == find(confidenceColumn):
			c.take(confidenceColumn, i, name)
		case strings.HasPrefix(name, truthPrefix):
			c.truth = append(c.truth, labelColumn{i, name, name[len(truthPrefix):]})
		case strings.HasPrefix(name, countsPrefix):
			c.counts = append(c.counts, labelColumn{i, name, name[len(countsPrefix):]})
		case marked(o.LabelColumns, name), len(o.LabelColumns) == 0 && (c.stated == nil || c.stated.column == ""):
			c.labels, c.layout.Labels = append(c.labels, labelColumn{i, name, name}), append(c.layout.Labels, name)
		default:
			c.layout.Ignored = append(c.layout.Ignored, name)
		}
	}
}

// take notes that a column holds a field, and how that is shown.
func (c *csvRows) take(field string, column int, shown string) {
	c.at[field], c.named[field] = column, c.sheet.Columns()[column]
	c.layout.Used = append(c.layout.Used, shown)
}

// surveyed examines the columns that may hold labels, and returns how they do.
func (c *csvRows) surveyed(o *Options) (*statement, error) {
	var all []*survey
	for _, name := range c.asked {
		all = append(all, newSurvey(name))
	}
	truth, hasTruth := c.at[truthColumn]
	for {
		err := c.nextRow()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		for _, s := range all {
			s.add(c.sheet.Text(slices.Index(c.sheet.Columns(), s.column)))
			if hasTruth && len(all) == 1 {
				s.add(c.sheet.Text(truth))
			}
		}
	}
	if c.sole {
		return all[0].alone(o)
	}
	return choose(all, len(c.labels) == len(all), o)
}

// check returns what the header lacks.
func (c *csvRows) check(noLabels bool) error {
	has := func(field string) bool { _, ok := c.at[field]; return ok }
	isPath, isFrames, isList := has(pathColumn), has(framesColumn), has(labelsColumn)
	columns := strings.Join(c.sheet.Columns(), ", ")
	switch {
	case !isPath && !isFrames && slices.ContainsFunc(c.sheet.Columns(), picture.IsName):
		return fmt.Errorf("line 1: it is a row (%s), want a header above the rows, such as path,labels",
			loader.Excerpt(columns))
	case !isPath && !isFrames:
		return c.inHeader(errors.New("no column names the pictures; call one path, filename or image, or set which it is " +
			"(`data.path_column`)"))
	case isPath && isFrames:
		return fmt.Errorf("line 1: there are columns %s and %s; a row is one picture or one list of frames",
			loader.Excerpt(c.named[pathColumn]), loader.Excerpt(c.named[framesColumn]))
	case c.stated == nil || noLabels: // other problems appear in the rows
		return nil
	case !isList && len(c.labels) == 0:
		return fmt.Errorf("line 1: there are no labels, columns are %s; add a column labels with names separated by "+
			"; or |, or a column of 0 and 1 for each label", loader.Excerpt(columns))
	case isList && len(c.labels) > 0:
		return fmt.Errorf("line 1: labels are both in the column %s and in columns of their own (%s); choose one",
			loader.Excerpt(c.named[labelsColumn]), loader.Excerpt(c.layout.Labels[0]))
	case has(truthColumn) && len(c.truth) > 0:
		return fmt.Errorf("line 1: true labels are both in a column truth and in columns of their own (%s); choose one",
			loader.Excerpt(c.truth[0].name))
	case has(countsColumn) && len(c.counts) > 0:
		return fmt.Errorf("line 1: counts are both in a column counts and in columns of their own (%s); choose one",
			loader.Excerpt(c.counts[0].name))
	}
	return nil
}

func (c *csvRows) columns() Columns { return c.layout }

func (c *csvRows) state(m *Manifest) {
	m.Form, m.LabelsColumn = c.stated.form, c.stated.column
	m.Separator, m.Mark = forms[m.Form].separator, c.mark
	if m.Form == FormList && c.bars && !c.semicolons {
		m.Separator = "|"
	}
}

func (c *csvRows) next() (*record, error) {
	if c.stated == nil {
		return nil, errUndecided
	}
	if err := c.nextRow(); err != nil {
		if blank := c.blanks(); blank != nil && errors.Is(err, io.EOF) {
			return nil, blank
		}
		return nil, err
	}
	r := &record{line: c.sheet.Line(), columns: c.named}
	err := c.lists(r)
	if err == nil {
		err = c.single(r)
	}
	if err != nil {
		return nil, fmt.Errorf("line %d, %w", r.line, err)
	}
	return r, nil
}

// nextRow goes to the next row that has a cell: spreadsheets write rows of separators after the last one.
func (c *csvRows) nextRow() error {
	for {
		if err := c.sheet.Next(); err != nil {
			return err
		}
		for column := range c.sheet.Columns() {
			if c.sheet.Text(column) != "" {
				return nil
			}
		}
	}
}

// lists takes the cells that hold a field each.
func (c *csvRows) lists(r *record) (err error) {
	r.path, r.hasPath = c.cell(pathColumn)
	r.id, _ = c.cell(idColumn)
	r.split, _ = c.cell(splitColumn)
	if at, ok := c.at[confidenceColumn]; ok {
		r.denied = denies(c.sheet.Text(at))
	}
	if cell, ok := c.cell(framesColumn); ok {
		r.frames = SplitNames(cell)
	}
	if cell, ok := c.cell(labelsColumn); ok {
		if r.labels, err = c.stated.names(cell); err != nil {
			return columnError(c.stated.column, err)
		}
		c.bars = c.bars || strings.Contains(cell, "|") && !strings.Contains(cell, ";")
		c.semicolons = c.semicolons || strings.Contains(cell, ";")
	}
	if cell, _ := c.cell(truthColumn); cell != "" && cell != unknownCell {
		if r.truth, err = c.stated.names(cell); err != nil {
			return columnError(r.column(truthColumn), err)
		}
	}
	if cell, _ := c.cell(countsColumn); cell != "" && cell != unknownCell {
		if r.counts, err = splitCounts(cell); err != nil {
			return columnError(r.column(countsColumn), err)
		}
	}
	return nil
}

// cell returns the cell of a field, in separate memory, and whether there is such a column.
func (c *csvRows) cell(name string) (string, bool) {
	at, ok := c.at[name]
	if !ok {
		return "", false
	}
	return strings.Clone(c.sheet.Text(at)), true
}

// splitCounts parts a list such as "dog:3;cat:1".
func splitCounts(cell string) ([]namedCount, error) {
	list := []namedCount{}
	for _, part := range SplitNames(cell) {
		at := strings.LastIndexByte(part, ':')
		n, err := strconv.Atoi(strings.TrimSpace(part[at+1:]))
		if at < 0 || err != nil {
			return nil, fmt.Errorf("%q is no count; want a list such as dog:3;cat:1", loader.Excerpt(part))
		}
		list = append(list, namedCount{strings.TrimSpace(part[:at]), n})
	}
	return list, nil
}

// Prefixes of CSV columns of single true labels and of single counts.
const (
	truthPrefix  = "truth:"
	countsPrefix = "counts:"
)

type labelColumn struct {
	at          int
	name, label string
}

// single takes the cells that hold one label each. True labels and counts are known of all labels of a row, or of none.
func (c *csvRows) single(r *record) (err error) {
	if len(c.labels) > 0 {
		if r.labels, err = c.holding(c.labels, "if the column holds names, set it "+
			"(`data.features.list_column`), or leave it out (`data.features.ignore_columns`)"); err != nil {
			return err
		}
	}
	known, err := c.known(c.truth)
	if err == nil && known {
		r.truth, err = c.holding(c.truth, "leave all true labels of a row empty if they are unknown")
	}
	if err != nil {
		return err
	}
	if known, err = c.known(c.counts); err == nil && known {
		r.counts, err = c.counted()
	}
	return err
}

// known reports whether the cells of columns say anything; all of a row do, or none.
func (c *csvRows) known(columns []labelColumn) (bool, error) {
	unknown := func(column labelColumn) bool {
		cell := c.sheet.Text(column.at)
		return cell == "" || cell == unknownCell
	}
	for _, column := range columns {
		if unknown(column) != unknown(columns[0]) {
			return false, columnError(column.name,
				fmt.Errorf("it and column %q are not both filled in or both empty; a row has all of them, or none",
					loader.Excerpt(columns[0].name)))
		}
	}
	return len(columns) > 0 && !unknown(columns[0]), nil
}

// flags are the spellings of 0 and 1 that tables have.
var flags = [][2]string{{"0", "1"}, {"0.0", "1.0"}, {"False", "True"}, {"false", "true"}, {"FALSE", "TRUE"},
	{"no", "yes"}, {"No", "Yes"}, {"NO", "YES"}, {"n", "y"}, {"N", "Y"}, {"", "x"}, {"", "X"}}

// namedFlags is the first of flags whose spellings may be names of classes.
const namedFlags = 5

// Flag reports whether a cell of a column of 0 and 1 holds 1. pair is how the cell's column spells 0 and 1. ok is false
// if the cell is neither.
func Flag(cell string) (on bool, pair [2]string, ok bool) {
	for _, pair := range flags {
		if cell == pair[0] || cell == pair[1] {
			return cell == pair[1], pair, true
		}
	}
	return false, pair, false
}

// holding are the labels of columns that hold 1; cure is what else to do about another cell than 0 and 1. An empty cell
// is 0 in a table of x alone, which blanks checks after the last row.
func (c *csvRows) holding(columns []labelColumn, cure string) ([]string, error) {
	names := []string{}
	for _, column := range columns {
		cell := c.sheet.Text(column.at)
		on, pair, ok := Flag(cell)
		if cell == "-1" {
			cure = "if it means that the label does not hold, write 0, or " + cure
		}
		if !ok || cell == "" && c.blank == nil {
			err := columnError(column.name, fmt.Errorf("%q is neither 0 nor 1; repair it, or %s", loader.Excerpt(cell), cure))
			if !ok {
				return nil, err
			}
			c.blank = fmt.Errorf("line %d, %w", c.sheet.Line(), err)
		}
		if on {
			names = append(names, column.label)
		}
		if pair[0] != "" {
			c.spelled = true
		} else if on {
			c.mark = strings.Clone(cell)
		}
	}
	return names, nil
}

// blanks is the error about the first empty cell, unless all other cells are x.
func (c *csvRows) blanks() error {
	if c.spelled || c.mark == "" {
		return c.blank
	}
	return nil
}

func (c *csvRows) counted() ([]namedCount, error) {
	list := make([]namedCount, 0, len(c.counts))
	for _, column := range c.counts {
		cell := c.sheet.Text(column.at)
		n, err := strconv.Atoi(cell)
		if err != nil {
			return nil, columnError(column.name, fmt.Errorf("%q is no count; want a whole number, or all counts of the row "+
				"empty if they are unknown", loader.Excerpt(cell)))
		}
		if n != 0 {
			list = append(list, namedCount{column.label, n})
		}
	}
	return list, nil
}
