package relabel

import (
	"context"
	"encoding/csv"
	"fmt"
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
func NewManifest(ctx context.Context, rows []Row, path string) error {
	column, ids := "path", false
	for _, row := range rows {
		if len(row.Files) > 1 {
			column = "frames"
		}
		ids = ids || row.ID != "" && (len(row.Files) != 1 || row.ID != row.Files[0])
	}
	return durable.CSV(path, 0o644, func(w *csv.Writer) error {
		header := []string{column, "labels", "split"}
		if ids {
			header = append(header, "id")
		}
		if err := w.Write(header); err != nil {
			return err
		}
		for _, row := range rows {
			for _, name := range append(append([]string{}, row.Labels...), row.Files...) {
				if strings.ContainsAny(name, ";|") {
					return fmt.Errorf("%q has a ; or |, which part names in a list: rename it: %w", name, ErrForm)
				}
			}
			record := []string{strings.Join(row.Files, ";"), strings.Join(row.Labels, ";"), row.Split}
			if ids {
				record = append(record, row.ID)
			}
			if err := w.Write(record); err != nil {
				return err
			}
		}
		return nil
	})
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
