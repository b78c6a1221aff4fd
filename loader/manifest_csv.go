package loader

import (
	"bufio"
	"errors"
	"fmt"
	slashed "path"
	"slices"
	"strconv"
	"strings"

	"nmn/loader/features"
)

// Cells of a CSV manifest that are no lists.
const (
	unknownCell = "?" // of truth and counts: nobody knows
	noneCell    = "-" // of truth and counts: known, and none holds
)

// manifestCSV reads a manifest as a table. Columns have the names of its fields, or truth:LABEL and
// counts:LABEL; where there is no column of lists of labels, all others are labels and hold 0 or 1.
type manifestCSV struct {
	sheet                 *features.Sheet
	found                 ManifestColumns
	at                    map[string]int // columns of the fields
	labels, truth, counts []labelColumn
}

func newManifestCSV(text *bufio.Reader, o ManifestOptions) (*manifestCSV, error) {
	sheet, err := features.NewSheet(text, maxManifestLine)
	if err != nil {
		return nil, err
	}
	c := &manifestCSV{sheet: sheet, found: ManifestColumns{Format: "CSV"}, at: map[string]int{}}
	marked := func(patterns []string, column string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			ok, err := slashed.Match(pattern, column)
			return pattern == column || err == nil && ok
		})
	}
	lists := slices.Contains(sheet.Columns(), manifestLabels)
	path := pathName(func(name string) bool { return slices.Contains(sheet.Columns(), name) && !marked(o.Ignore, name) })
	for i, name := range sheet.Columns() {
		switch {
		case marked(o.Ignore, name):
			c.found.Ignored = append(c.found.Ignored, name)
		case name == path && name != manifestPath:
			c.at[manifestPath], c.found.Used = i, append(c.found.Used, manifestPath+" ("+name+")")
		case slices.Contains(manifestNames(), name):
			c.at[name], c.found.Used = i, append(c.found.Used, name)
		case strings.HasPrefix(name, truthPrefix):
			c.truth = append(c.truth, labelColumn{i, name, name[len(truthPrefix):]})
		case strings.HasPrefix(name, countsPrefix):
			c.counts = append(c.counts, labelColumn{i, name, name[len(countsPrefix):]})
		case marked(o.LabelColumns, name), !lists && len(o.LabelColumns) == 0:
			c.labels, c.found.Labels = append(c.labels, labelColumn{i, name, name}), append(c.found.Labels, name)
		default:
			c.found.Ignored = append(c.found.Ignored, name)
		}
	}
	c.found.Truth, c.found.Counts = len(c.truth), len(c.counts)
	return c, c.check()
}

// check says what the header lacks.
func (c *manifestCSV) check() error {
	_, isPath := c.at[manifestPath]
	_, isFrames := c.at[manifestFrames]
	_, isList := c.at[manifestLabels]
	_, isTruth := c.at[manifestTruth]
	_, isCounts := c.at[manifestCounts]
	columns := strings.Join(c.sheet.Columns(), ", ")
	switch {
	case !isPath && !isFrames && slices.ContainsFunc(c.sheet.Columns(), isPictureFile):
		return fmt.Errorf("line 1: it is a row (%s), want a header above the rows, such as path,labels", clipID(columns))
	case !isPath && !isFrames:
		return fmt.Errorf("line 1: there is no column path (or frames), columns are %s; name the column with the pictures path", clipID(columns))
	case isPath && isFrames:
		return errors.New("line 1: there are columns path and frames; a row is one picture or one list of frames")
	case !isList && len(c.labels) == 0:
		return fmt.Errorf("line 1: there are no labels, columns are %s; add a column labels with names separated by ; or |, or a column of 0 and 1 for each label", clipID(columns))
	case isList && len(c.labels) > 0:
		return fmt.Errorf("line 1: labels are both in a column labels and in columns of their own (%s); choose one", clipID(c.found.Labels[0]))
	case isTruth && len(c.truth) > 0:
		return fmt.Errorf("line 1: true labels are both in a column truth and in columns of their own (%s); choose one", clipID(c.truth[0].name))
	case isCounts && len(c.counts) > 0:
		return fmt.Errorf("line 1: counts are both in a column counts and in columns of their own (%s); choose one", clipID(c.counts[0].name))
	}
	return nil
}

// isPictureFile tells a file by its ending.
func isPictureFile(name string) bool {
	return slices.Contains([]string{".jpg", ".jpeg", ".png", ".gif"}, strings.ToLower(slashed.Ext(name)))
}

func (c *manifestCSV) columns() ManifestColumns { return c.found }

func (c *manifestCSV) next() (*manifestRecord, error) {
	if err := c.sheet.Next(); err != nil {
		return nil, err
	}
	r := &manifestRecord{line: c.sheet.Line()}
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
func (c *manifestCSV) lists(r *manifestRecord) error {
	r.path, r.hasPath = c.cell(manifestPath)
	r.id, _ = c.cell(manifestID)
	r.split, r.hasSplit = c.cell(manifestSplit)
	for _, list := range []struct {
		column string
		to     *[]string
	}{{manifestFrames, &r.frames}, {manifestLabels, &r.labels}, {manifestTruth, &r.truth}} {
		cell, ok := c.cell(list.column)
		if !ok || list.column == manifestTruth && (cell == "" || cell == unknownCell) {
			continue
		}
		*list.to = splitNames(cell)
	}
	if cell, ok := c.cell(manifestCounts); ok && cell != "" && cell != unknownCell {
		var err error
		if r.counts, err = splitCounts(cell); err != nil {
			return columnError(manifestCounts, err)
		}
	}
	return nil
}

// cell is the cell of a field, in memory of its own, and whether there is such a column.
func (c *manifestCSV) cell(name string) (string, bool) {
	at, ok := c.at[name]
	if !ok {
		return "", false
	}
	return strings.Clone(c.sheet.Text(at)), true
}

// splitNames parts a list at ; or |. Empty and "-" are lists of nothing; empty names stay, to be refused.
func splitNames(cell string) []string {
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
	for _, part := range splitNames(cell) {
		at := strings.LastIndexByte(part, ':')
		if at < 0 {
			return nil, fmt.Errorf("%q is no count; want a list such as dog:3;cat:1", clipID(part))
		}
		n, err := strconv.Atoi(strings.TrimSpace(part[at+1:]))
		if err != nil {
			return nil, fmt.Errorf("%q is no count; want a list such as dog:3;cat:1", clipID(part))
		}
		list = append(list, namedCount{strings.TrimSpace(part[:at]), n})
	}
	return list, nil
}
