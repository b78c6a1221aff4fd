package manifest

import (
	"bufio"
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
	c.sort(path, find, ignored, &o)
	c.layout.Truth, c.layout.Counts = len(c.truth), len(c.counts)
	return c, c.check()
}

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
		case ignored(name):
			c.layout.Ignored = append(c.layout.Ignored, name)
		case name == path && name != pathColumn:
			c.take(pathColumn, i)
			c.layout.Used = append(c.layout.Used, pathColumn+" ("+name+")")
		case c.stated != nil && name == c.stated.column:
			c.take(labelsColumn, i)
			c.layout.Used = append(c.layout.Used, name)
		case fields[name] != "" && (fields[name] != pathColumn || name == path):
			c.take(fields[name], i)
			c.layout.Used = append(c.layout.Used, name)
		case c.stated != nil && c.stated.pairs && name == find(confidenceColumn):
			c.take(confidenceColumn, i)
			c.layout.Used = append(c.layout.Used, name)
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

// take notes that a column holds a field.
func (c *csvRows) take(field string, column int) {
	c.at[field], c.named[field] = column, c.sheet.Columns()[column]
}

// surveyed examines the columns that may hold labels, and returns how they do.
func (c *csvRows) surveyed(o *Options) (*statement, error) {
	var all []*survey
	for _, name := range c.asked {
		all = append(all, newSurvey(name))
	}
	truth, hasTruth := c.at[truthColumn]
	for {
		err := c.sheet.Next()
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
	return choose(all, len(c.labels) == len(all), o)
}

// check returns what the header lacks.
func (c *csvRows) check() error {
	_, isPath := c.at[pathColumn]
	_, isFrames := c.at[framesColumn]
	_, isList := c.at[labelsColumn]
	_, isTruth := c.at[truthColumn]
	_, isCounts := c.at[countsColumn]
	columns := strings.Join(c.sheet.Columns(), ", ")
	switch {
	case !isPath && !isFrames && slices.ContainsFunc(c.sheet.Columns(), picture.IsName):
		return fmt.Errorf("line 1: it is a row (%s), want a header above the rows, such as path,labels",
			loader.Excerpt(columns))
	case !isPath && !isFrames:
		return c.inHeader(errNoPictures)
	case isPath && isFrames:
		return fmt.Errorf("line 1: there are columns %s and %s; a row is one picture or one list of frames",
			loader.Excerpt(c.named[pathColumn]), loader.Excerpt(c.named[framesColumn]))
	case c.stated == nil: // other problems appear in the rows
		return nil
	case !isList && len(c.labels) == 0:
		return fmt.Errorf("line 1: there are no labels, columns are %s; add a column labels with names separated by "+
			"; or |, or a column of 0 and 1 for each label", loader.Excerpt(columns))
	case isList && len(c.labels) > 0:
		return fmt.Errorf("line 1: labels are both in the column %s and in columns of their own (%s); choose one",
			loader.Excerpt(c.named[labelsColumn]), loader.Excerpt(c.layout.Labels[0]))
	case isTruth && len(c.truth) > 0:
		return fmt.Errorf("line 1: true labels are both in a column truth and in columns of their own (%s); choose one",
			loader.Excerpt(c.truth[0].name))
	case isCounts && len(c.counts) > 0:
		return fmt.Errorf("line 1: counts are both in a column counts and in columns of their own (%s); choose one",
			loader.Excerpt(c.counts[0].name))
	}
	return nil
}

func (c *csvRows) columns() Columns { return c.layout }

func (c *csvRows) state(m *Manifest) {
	m.Form, m.LabelsColumn = c.stated.form, c.stated.column
	m.Separator, m.Confidence = m.Form.separator(), c.named[confidenceColumn]
	m.Mark = c.mark
	if m.Form == FormList && c.bars && !c.semicolons {
		m.Separator = "|"
	}
}

func (c *csvRows) next() (*record, error) {
	if c.stated == nil {
		return nil, errUndecided
	}
	if err := c.sheet.Next(); err != nil {
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

// lists takes the cells that hold a field each.
func (c *csvRows) lists(r *record) error {
	r.path, r.hasPath = c.cell(pathColumn)
	r.id, _ = c.cell(idColumn)
	r.split, r.hasSplit = c.cell(splitColumn)
	if at, ok := c.at[confidenceColumn]; ok {
		r.denied = denies(c.sheet.Text(at))
	}
	if cell, ok := c.cell(framesColumn); ok {
		r.frames = SplitNames(cell)
	}
	if cell, ok := c.cell(labelsColumn); ok {
		var err error
		if r.labels, err = c.stated.names(cell); err != nil {
			return columnError(c.stated.column, err)
		}
		c.bars = c.bars || strings.Contains(cell, "|") && !strings.Contains(cell, ";")
		c.semicolons = c.semicolons || strings.Contains(cell, ";")
	}
	if cell, ok := c.cell(truthColumn); ok && cell != "" && cell != unknownCell {
		var err error
		if r.truth, err = c.stated.names(cell); err != nil {
			return columnError(r.column(truthColumn), err)
		}
	}
	if cell, ok := c.cell(countsColumn); ok && cell != "" && cell != unknownCell {
		var err error
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
		if at < 0 {
			return nil, fmt.Errorf("%q is no count; want a list such as dog:3;cat:1", loader.Excerpt(part))
		}
		n, err := strconv.Atoi(strings.TrimSpace(part[at+1:]))
		if err != nil {
			return nil, fmt.Errorf("%q is no count; want a list such as dog:3;cat:1", loader.Excerpt(part))
		}
		list = append(list, namedCount{strings.TrimSpace(part[:at]), n})
	}
	return list, nil
}
