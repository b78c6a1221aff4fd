package manifest

import (
	"bufio"
	"errors"
	"fmt"
	slashed "path"
	"slices"
	"strconv"
	"strings"

	"nmn/loader"
	"nmn/loader/features"
)

// Cells of a CSV manifest that are no lists.
const (
	unknownCell = "?" // of truth and counts: nobody knows
	noneCell    = "-" // of truth and counts: known, and none holds
)

// csvRows reads a manifest as a table. Columns have the names of its fields, or truth:LABEL and
// counts:LABEL; where there is no column of lists of labels, all others are labels and hold 0 or 1.
type csvRows struct {
	sheet                 *features.Sheet
	layout                Columns
	at                    map[string]int // columns of the fields
	labels, truth, counts []labelColumn
}

func newCSVRows(text *bufio.Reader, o Options) (*csvRows, error) {
	sheet, err := features.NewSheet(text, maxLine)
	if err != nil {
		return nil, err
	}
	c := &csvRows{sheet: sheet, layout: Columns{Format: "CSV"}, at: map[string]int{}}
	marked := func(patterns []string, column string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			ok, err := slashed.Match(pattern, column)
			return pattern == column || err == nil && ok
		})
	}
	lists := slices.Contains(sheet.Columns(), labelsColumn)
	path := pathName(func(name string) bool {
		return slices.Contains(sheet.Columns(), name) && !marked(o.Ignore, name)
	})
	for i, name := range sheet.Columns() {
		switch {
		case marked(o.Ignore, name):
			c.layout.Ignored = append(c.layout.Ignored, name)
		case name == path && name != pathColumn:
			c.at[pathColumn], c.layout.Used = i, append(c.layout.Used, pathColumn+" ("+name+")")
		case slices.Contains(fieldNames(), name):
			c.at[name], c.layout.Used = i, append(c.layout.Used, name)
		case strings.HasPrefix(name, truthPrefix):
			c.truth = append(c.truth, labelColumn{i, name, name[len(truthPrefix):]})
		case strings.HasPrefix(name, countsPrefix):
			c.counts = append(c.counts, labelColumn{i, name, name[len(countsPrefix):]})
		case marked(o.LabelColumns, name), !lists && len(o.LabelColumns) == 0:
			c.labels, c.layout.Labels = append(c.labels, labelColumn{i, name, name}), append(c.layout.Labels, name)
		default:
			c.layout.Ignored = append(c.layout.Ignored, name)
		}
	}
	c.layout.Truth, c.layout.Counts = len(c.truth), len(c.counts)
	return c, c.check()
}

// check says what the header lacks.
func (c *csvRows) check() error {
	_, isPath := c.at[pathColumn]
	_, isFrames := c.at[framesColumn]
	_, isList := c.at[labelsColumn]
	_, isTruth := c.at[truthColumn]
	_, isCounts := c.at[countsColumn]
	columns := strings.Join(c.sheet.Columns(), ", ")
	switch {
	case !isPath && !isFrames && slices.ContainsFunc(c.sheet.Columns(), isPictureFile):
		return fmt.Errorf("line 1: it is a row (%s), want a header above the rows, such as path,labels",
			loader.Excerpt(columns))
	case !isPath && !isFrames:
		return fmt.Errorf("line 1: there is no column path (or frames), columns are %s; name the column with the "+
			"pictures path", loader.Excerpt(columns))
	case isPath && isFrames:
		return errors.New("line 1: there are columns path and frames; a row is one picture or one list of frames")
	case !isList && len(c.labels) == 0:
		return fmt.Errorf("line 1: there are no labels, columns are %s; add a column labels with names separated by "+
			"; or |, or a column of 0 and 1 for each label", loader.Excerpt(columns))
	case isList && len(c.labels) > 0:
		return fmt.Errorf("line 1: labels are both in a column labels and in columns of their own (%s); choose one",
			loader.Excerpt(c.layout.Labels[0]))
	case isTruth && len(c.truth) > 0:
		return fmt.Errorf("line 1: true labels are both in a column truth and in columns of their own (%s); choose one",
			loader.Excerpt(c.truth[0].name))
	case isCounts && len(c.counts) > 0:
		return fmt.Errorf("line 1: counts are both in a column counts and in columns of their own (%s); choose one",
			loader.Excerpt(c.counts[0].name))
	}
	return nil
}

// isPictureFile reports whether a name ends like that of a picture.
func isPictureFile(name string) bool {
	return slices.Contains([]string{".jpg", ".jpeg", ".png", ".gif"}, strings.ToLower(slashed.Ext(name)))
}

func (c *csvRows) columns() Columns { return c.layout }

func (c *csvRows) state(m *Manifest) {
	m.Form = FormColumns
	if _, lists := c.at[labelsColumn]; lists {
		m.Form, m.LabelsColumn, m.Separator = FormList, labelsColumn, FormList.separator()
	}
}

func (c *csvRows) next() (*record, error) {
	if err := c.sheet.Next(); err != nil {
		return nil, err
	}
	r := &record{line: c.sheet.Line()}
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
	for _, list := range []struct {
		column string
		to     *[]string
	}{{framesColumn, &r.frames}, {labelsColumn, &r.labels}, {truthColumn, &r.truth}} {
		cell, ok := c.cell(list.column)
		if !ok || list.column == truthColumn && (cell == "" || cell == unknownCell) {
			continue
		}
		*list.to = SplitNames(cell)
	}
	if cell, ok := c.cell(countsColumn); ok && cell != "" && cell != unknownCell {
		var err error
		if r.counts, err = splitCounts(cell); err != nil {
			return columnError(countsColumn, err)
		}
	}
	return nil
}

// cell is the cell of a field, in memory of its own, and whether there is such a column.
func (c *csvRows) cell(name string) (string, bool) {
	at, ok := c.at[name]
	if !ok {
		return "", false
	}
	return strings.Clone(c.sheet.Text(at)), true
}

// SplitNames parts a list at ; or |. Empty and "-" are lists of nothing; empty names stay, to be refused.
func SplitNames(cell string) []string {
	if cell == "" || cell == noneCell {
		return []string{}
	}
	separator := ";"
	if !strings.Contains(cell, separator) {
		separator = "|"
	}
	names := strings.Split(cell, separator)
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
	}
	return names
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
