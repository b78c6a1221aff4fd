package relabel

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"nmn/internal/durable"
	"nmn/loader"
	"nmn/loader/features"
	"nmn/loader/manifest"
)

// HasLines reports whether a manifest has lines of text whose labels can be changed in place.
func HasLines(m *manifest.Manifest) bool {
	switch m.Form {
	case manifest.FormFolders, manifest.FormCOCO, manifest.FormVOC, manifest.FormYOLO:
		return false
	}
	return m.Sources == nil && !m.WholeJSON && !m.Headless
}

// Manifest writes a manifest of lines with corrected labels, and returns the number of rows that it has
// changed. Every other byte stays unchanged.
func Manifest(ctx context.Context, m *manifest.Manifest, l Labels, path string) (rows int, err error) {
	if err := l.check(); err != nil {
		return 0, err
	}
	if !HasLines(m) {
		return 0, fmt.Errorf("%s: labels of the form %s are not lines: %w", m.File, m.Form, ErrForm)
	}
	l.joined = m.Joined
	of := rowsOf(m)
	pairs := m.Form == manifest.FormPairs
	var stated map[string]string
	if pairs || m.Form == manifest.FormSingle || m.Form == manifest.FormIntegers {
		if stated, err = of.statements(ctx); err == nil {
			err = checkStated(m, &l, stated)
		}
		if err != nil {
			return 0, err
		}
	}
	s := editor{labels: &l, separator: m.Separator, mark: m.Mark, current: of.names, stated: stated,
		confidence: m.Confidence, id: func(line, _ int, _ func(string) string) string { return of.id(line) }}
	if m.Form != manifest.FormColumns {
		s.list = m.LabelsColumn
	}
	if pairs {
		s.plan, rows = planPairs(m, &l)
	}
	edit := s.table
	if m.JSONLines {
		edit = s.lines
	}
	changed, err := l.rewrite(ctx, m.File, path, edit)
	if pairs {
		return rows, err
	}
	return changed, err
}

// manifestRows are the rows of a manifest by their lines.
type manifestRows struct {
	m  *manifest.Manifest
	at map[int]int
}

func rowsOf(m *manifest.Manifest) manifestRows {
	of := manifestRows{m, make(map[int]int, len(m.Rows))}
	for i := range m.Rows {
		of.at[m.Rows[i].Line] = i
	}
	for _, line := range m.Lines { // that say the same as the first line of their row
		if i, ok := of.at[line.Row]; ok {
			of.at[line.Number] = i
		}
	}
	return of
}

// id returns the bag of a line; empty if a row was left out.
func (r manifestRows) id(line int) string {
	if i, ok := r.at[line]; ok {
		return r.m.Rows[i].ID
	}
	return ""
}

func (r manifestRows) names(line int) []string {
	i, ok := r.at[line]
	if !ok {
		return nil
	}
	return namesOf(r.m, &r.m.Rows[i])
}

func namesOf(m *manifest.Manifest, row *manifest.Row) []string {
	names := make([]string, len(row.Labels))
	for at, label := range row.Labels {
		names[at] = m.Labels[label]
	}
	return names
}

// statements are what states each name that a line has alone: a cell, or a value of JSON.
func (r manifestRows) statements(ctx context.Context) (map[string]string, error) {
	m := r.m
	paired := make(map[int]string, len(m.Lines))
	for _, line := range m.Lines {
		if line.Label >= 0 {
			paired[line.Number] = m.Labels[line.Label]
		}
	}
	name := func(line int) string {
		if m.Form == manifest.FormPairs {
			return paired[line]
		}
		if names := r.names(line); len(names) == 1 {
			return names[0]
		}
		return ""
	}
	in, err := loader.OpenText(ctx, m.File)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	stated := map[string]string{}
	take := func(line int, text string) {
		if name := name(line); name != "" {
			stated[name] = text
		}
	}
	if m.JSONLines {
		_, err := editLines(in, io.Discard, func(line []byte, number int) ([]byte, bool, error) {
			if start, end, err := valueOf(line, m.LabelsColumn); err == nil {
				take(number, string(line[start:end]))
			}
			return nil, false, nil
		})
		return stated, err
	}
	text := bufio.NewReaderSize(in, 1<<16)
	records := newRecords(text, io.Discard, features.Separator(text))
	s := editor{list: m.LabelsColumn}
	columns, err := s.header(records)
	at := slices.Index(columns, s.list)
	for err == nil {
		if err = records.next(); err != nil {
			break
		}
		if at < len(records.fields) {
			take(records.line, strings.TrimSpace(records.fields[at]))
		}
		err = records.copy(nil)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return stated, err
}

// checkStated refuses corrected labels that the form cannot state: several for a row of a form with one, or a label
// that no row states alone.
func checkStated(m *manifest.Manifest, l *Labels, stated map[string]string) error {
	for i := range m.Rows {
		row := &m.Rows[i]
		names, changed := l.Names(row.ID, namesOf(m, row))
		if !changed {
			continue
		}
		if m.Form != manifest.FormPairs && len(names) > 1 {
			return fmt.Errorf("%s, line %d: the row would have %d labels, and its form states one: %w", m.File, row.Line,
				len(names), ErrForm)
		}
		for _, name := range names {
			if stated[name] == "" {
				return fmt.Errorf("%s: no row states %q alone: %w", m.File, loader.Excerpt(name), ErrForm)
			}
		}
	}
	return nil
}

// pairPlan holds the new content of the lines of a manifest that has a line for each picture and label: the
// names that each line gives then, an empty one for no label. A line with several names is followed by copies
// of itself, a line with none is removed, and a line that is not in the plan stays as it is.
type pairPlan map[int][]string

// planPairs plans the new labels of the lines of m. changed counts the rows in which a line changes.
func planPairs(m *manifest.Manifest, l *Labels) (plan pairPlan, changed int) {
	lines := map[int][]manifest.Line{}
	for _, line := range m.Lines {
		lines[line.Row] = append(lines[line.Row], line)
	}
	plan = pairPlan{}
	for i := range m.Rows {
		row := &m.Rows[i]
		before := namesOf(m, row)
		names, other := l.Names(row.ID, before)
		if !other {
			continue
		}
		changed++
		added := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(before, name) })
		var kept, free []int // numbers of lines
		for _, line := range lines[row.Line] {
			if line.Label >= 0 && !slices.Contains(names, m.Labels[line.Label]) {
				plan[line.Number] = nil
				free = append(free, line.Number)
			} else {
				kept = append(kept, line.Number)
			}
		}
		for len(added) > 0 && len(free) > 0 {
			plan[free[0]] = added[:1]
			added, kept, free = added[1:], append(kept, free[0]), free[1:]
		}
		switch {
		case len(kept) == 0:
			plan[free[0]] = []string{""} // the picture stays, without a label
		case len(added) > 0:
			last := slices.Max(kept)
			plan[last] = append(slices.Clone(plan[last]), added...)
			if len(plan[last]) == len(added) { // the line states what it did, too
				plan[last] = append([]string{same}, added...)
			}
		}
	}
	return plan, changed
}

// same marks, in a plan, that a line keeps its name.
const same = "\x00"

// Row is a row of a new manifest.
type Row struct {
	ID     string
	Files  []string // relative to the folder of the pictures, with slashes; several are frames of a clip
	Labels []string
	Split  string // train, validation or test
}

// NewManifest writes a manifest as CSV, for data whose form cannot be written again: a column of paths, or of frames,
// then labels and split.
func NewManifest(rows []Row, path string) error {
	header, ids := []string{"path", "labels", "split"}, false
	for _, row := range rows {
		if len(row.Files) > 1 {
			header[0] = "frames"
		}
		ids = ids || row.ID != "" && (len(row.Files) != 1 || row.ID != row.Files[0])
	}
	if ids {
		header = append(header, "id")
	}
	table := [][]string{header}
	for _, row := range rows {
		for _, name := range slices.Concat(row.Labels, row.Files) {
			if strings.ContainsAny(name, ";|") {
				return fmt.Errorf("%q has a ; or |, which part names in a list: rename it: %w", name, ErrForm)
			}
		}
		record := []string{strings.Join(row.Files, ";"), strings.Join(row.Labels, ";"), row.Split, row.ID}
		table = append(table, record[:len(header)])
	}
	return durable.CSV(path, 0o644, func(w *csv.Writer) error { return w.WriteAll(table) })
}

// RowsOf returns the rows of a manifest of any form, with corrected labels. split returns the split of a row.
func RowsOf(m *manifest.Manifest, l Labels, split func(id string) string) []Row {
	rows := make([]Row, len(m.Rows))
	for i := range m.Rows {
		from := &m.Rows[i]
		names, _ := l.Names(from.ID, namesOf(m, from))
		rows[i] = Row{ID: from.ID, Files: from.Files, Labels: names, Split: split(from.ID)}
	}
	return rows
}
