package relabel

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

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

// names are the labels of a line.
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
	text := bufio.NewReaderSize(in, 1<<16)
	if m.JSONLines {
		for number := 1; ; number++ {
			line, err := text.ReadBytes('\n')
			if start, end, err := valueOf(line, m.LabelsColumn); err == nil {
				take(number, string(line[start:end]))
			}
			if errors.Is(err, io.EOF) {
				return stated, nil
			}
			if err != nil {
				return nil, err
			}
		}
	}
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
