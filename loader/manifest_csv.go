package loader

import (
	"bufio"
	"errors"
	"fmt"
	slashed "path"
	"slices"
	"strconv"
	"strings"

	"nmn/features"
)

// Cells of a CSV manifest that are no lists.
const (
	unknownCell = "?" // of truth and counts: nobody knows
	noneCell    = "-" // of truth and counts: known, and none holds
)

// manifestCSV reads a manifest as a table. Columns have the names of its fields; where there is no column
// of lists of labels, all others are labels and hold 0 or 1.
type manifestCSV struct {
	sheet   *features.Sheet
	found   ManifestColumns
	at      map[string]int // columns of the fields
	singles []int          // columns of labels
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
	for i, name := range sheet.Columns() {
		switch {
		case marked(o.Ignore, name):
			c.found.Ignored = append(c.found.Ignored, name)
		case slices.Contains(manifestNames(), name):
			c.at[name], c.found.Used = i, append(c.found.Used, name)
		case marked(o.LabelColumns, name), !lists && len(o.LabelColumns) == 0:
			c.singles, c.found.Labels = append(c.singles, i), append(c.found.Labels, name)
		default:
			c.found.Ignored = append(c.found.Ignored, name)
		}
	}
	return c, c.check()
}

// check says what the header lacks.
func (c *manifestCSV) check() error {
	_, isPath := c.at[manifestPath]
	_, isFrames := c.at[manifestFrames]
	_, isList := c.at[manifestLabels]
	columns := strings.Join(c.sheet.Columns(), ", ")
	switch {
	case !isPath && !isFrames:
		return fmt.Errorf("line 1: there is no column path (or frames), columns are %s; name the column with the pictures path", clipID(columns))
	case isPath && isFrames:
		return errors.New("line 1: there are columns path and frames; a row is one picture or one list of frames")
	case !isList && len(c.singles) == 0:
		return fmt.Errorf("line 1: there are no labels, columns are %s; add a column labels with names separated by ; or |, or a column of 0 and 1 for each label", clipID(columns))
	case isList && len(c.singles) > 0:
		return fmt.Errorf("line 1: labels are both in a column labels and in columns of their own (%s); choose one", clipID(c.found.Labels[0]))
	}
	return nil
}

func (c *manifestCSV) columns() ManifestColumns { return c.found }

func (c *manifestCSV) next() (*manifestRecord, error) {
	if err := c.sheet.Next(); err != nil {
		return nil, err
	}
	r := &manifestRecord{line: c.sheet.Line()}
	wrong := func(column string, err error) (*manifestRecord, error) {
		return nil, fmt.Errorf("line %d, %w", r.line, columnError(column, err))
	}
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
			return wrong(manifestCounts, err)
		}
	}
	for i, column := range c.singles {
		switch cell := c.sheet.Text(column); cell {
		case "1", "1.0":
			r.labels = append(r.labels, c.found.Labels[i])
		case "0", "0.0":
		default:
			return wrong(c.found.Labels[i], fmt.Errorf("%q is neither 0 nor 1; repair it, or leave the column out where it is no label (--ignore-columns)", clipID(cell)))
		}
	}
	return r, nil
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
