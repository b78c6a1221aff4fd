package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"nmn/eval"
	"nmn/format/table"
	"nmn/labels/audit"
	"nmn/loader/manifest"
	"nmn/loader/relabel"
)

// listsPictures reports whether a file of labels lists pictures with names of labels, and is no table of numbers.
func listsPictures(ctx context.Context, file string) bool {
	switch strings.ToLower(filepath.Ext(strings.TrimSuffix(file, ".gz"))) {
	case ".jsonl", ".json":
		return true
	case ".csv", ".tsv":
	default:
		return false
	}
	columns, err := relabel.Columns(ctx, file)
	if err != nil || !slices.ContainsFunc(columns, func(name string) bool {
		return name == "labels" || manifest.NamesPictures(name)
	}) {
		return false
	}
	_, err = table.ReadLabels(file) // such a column may be a label of its own
	return err != nil
}

// manifestLabels has score files take their labels from a manifest, where the file of labels is one; nil where it is
// not. The manifest is there once the scores are read.
func manifestLabels(ctx context.Context, f *eval.Files) *manifest.Manifest {
	if !listsPictures(ctx, f.Labels) {
		return nil
	}
	m := &manifest.Manifest{}
	f.LabelsOf = func(scores *table.Matrix) (*table.Matrix, error) {
		if scores.IDs == nil || scores.Words == nil {
			return nil, fmt.Errorf("%s: names bags and labels, and %s does not: give scores as .csv, with the words in the "+
				"header and the bags in a column id", f.Labels, scores.Name)
		}
		read, err := manifest.Read(ctx, f.Labels, manifest.Options{})
		if err != nil {
			return nil, err
		}
		*m = *read
		values, err := m.Values(scores.IDs, scores.Words)
		return &table.Matrix{Name: f.Labels, Words: scores.Words, IDs: scores.IDs, Rows: len(scores.IDs),
			Cols: len(scores.Words), Values: values}, err
	}
	return m
}

// manifestRows are the corrected labels of the rows of a manifest.
func manifestRows(m *manifest.Manifest, r *audit.Report, corrected []uint8) (relabel.Labels, error) {
	k := r.Input.Classes
	l := relabel.Labels{Words: r.Words, Rows: map[string][]uint8{}}
	rows, err := m.Find(r.IDs)
	for i, row := range rows {
		if now := corrected[i*k : (i+1)*k]; !slices.Equal(now, r.Labels[i*k:(i+1)*k]) {
			l.Rows[m.Rows[row].ID] = now
		}
	}
	return l, err
}
