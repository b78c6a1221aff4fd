package relabel

import (
	"context"
	"fmt"
	"io"

	"nmn/loader/manifest"
)

// Lines reports whether a manifest of a form has a line of text for each row, in which its labels can be changed.
func Lines(f manifest.Form) bool {
	switch f {
	case manifest.FormFolders, manifest.FormCOCO, manifest.FormVOC, manifest.FormYOLO:
		return false
	}
	return true
}

// Manifest writes a manifest of lines again with the labels as they should be, and returns how many rows it has changed.
// Every other byte stays what it is.
func Manifest(ctx context.Context, m *manifest.Manifest, l Labels, path string) (rows int, err error) {
	if err := l.check(); err != nil {
		return 0, err
	}
	ids := make(map[int]string, len(m.Rows))
	for i := range m.Rows {
		ids[m.Rows[i].Line] = m.Rows[i].ID
	}
	switch {
	case !Lines(m.Form):
		return 0, fmt.Errorf("%s: labels of the form %s are no lines: %w", m.File, m.Form, ErrForm)
	case m.Form == manifest.FormSingle || m.Form == manifest.FormIntegers:
		if err := oneEach(m, &l); err != nil {
			return 0, err
		}
	}
	if m.JSONLines {
		lines := jsonLines{labels: &l, key: m.LabelsColumn, separator: m.Separator,
			id: func(line, _ int, _ []byte) string { return ids[line] }}
		return rewrite(ctx, m.File, path, lines.edit)
	}
	s := sheet{labels: &l, separator: m.Separator,
		id: func(line, _ int, _ func(string) string) string { return ids[line] }}
	if m.Form != manifest.FormColumns {
		s.list = m.LabelsColumn
	}
	return rewrite(ctx, m.File, path, func(in io.Reader, out io.Writer) (int, error) { return s.edit(in, out) })
}

// oneEach refuses corrected labels of which a row would have none or several, in forms that state one.
func oneEach(m *manifest.Manifest, l *Labels) error {
	for i := range m.Rows {
		row := &m.Rows[i]
		current := make([]string, len(row.Labels))
		for at, label := range row.Labels {
			current[at] = m.Labels[label]
		}
		if names, changed := l.Names(row.ID, current); changed && len(names) != 1 {
			return fmt.Errorf("%s, line %d: the row would have %d labels, and its form states one: %w", m.File, row.Line,
				len(names), ErrForm)
		}
	}
	return nil
}
