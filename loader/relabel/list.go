package relabel

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"nmn/internal/durable"
	"nmn/loader/manifest"
)

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
