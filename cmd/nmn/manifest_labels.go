package main

import (
	"context"
	"fmt"
	"slices"

	"nmn/eval"
	"nmn/format/table"
	"nmn/labels/audit"
	"nmn/loader/dataset"
	"nmn/loader/manifest"
	"nmn/loader/relabel"
)

// listsPictures reports whether a file of labels is a list of pictures with names of labels, not a table of numbers.
func listsPictures(ctx context.Context, file string) bool {
	switch dataset.TextEnding(file) {
	case ".jsonl", ".json":
		return true
	case ".csv", ".tsv":
	default:
		return false
	}
	columns, err := manifest.Header(ctx, file)
	if err != nil || !slices.ContainsFunc(columns, func(name string) bool {
		return name == "labels" || manifest.NamesPictures(name)
	}) {
		return false
	}
	_, err = table.ReadLabels(file) // such a column may be a label
	return err != nil
}

// manifestLabels makes score files take their labels from a manifest if the file of labels is one, and
// otherwise returns nil. The manifest is filled when the scores are read.
func manifestLabels(ctx context.Context, f *eval.Files) *manifest.Manifest {
	if !listsPictures(ctx, f.Labels) {
		return nil
	}
	m := &manifest.Manifest{}
	f.LabelsOf = func(scores *table.Matrix) (*table.Matrix, error) {
		if scores.IDs == nil || scores.Words == nil {
			return nil, fmt.Errorf("%s: names pictures and labels, and %s does not: give scores as .csv, with the labels "+
				"in the "+
				"header and the pictures in a column id", f.Labels, scores.Name)
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

// manifestRows returns the corrected labels of the rows of a manifest.
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
