package features

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"nmn/format/npy"
	"nmn/format/safetensors"
	"nmn/internal/durable"
)

// Writer writes feature vectors to a file row by row, in bounded memory and without knowing their
// number before. The file appears with Commit, whole or not at all.
type Writer struct {
	file *durable.File
	name string
	rows rowWriter
}

// rowWriter is a format.
type rowWriter interface {
	Write(row []float32) error
	Rows() int
	Close() error
}

// tensorName is the name of the matrix in .safetensors files that are written.
const tensorName = "features"

// Create starts a file of vectors of a width; its name ends in .npy or .safetensors.
func Create(name string, width int) (*Writer, error) {
	kind := kindOf(name)
	if kind != ".npy" && kind != ".safetensors" {
		return nil, formatf("features: cannot write %q: its name ends in %q, want .npy or .safetensors", name, kind)
	}
	file, err := durable.Create(name, 0o644)
	if err != nil {
		return nil, fmt.Errorf("features: cannot write %q: %w", name, err)
	}
	w := &Writer{file: file, name: name}
	if kind == ".npy" {
		w.rows, err = npy.NewWriter(file, width)
	} else {
		w.rows, err = safetensors.NewRowWriter(file, nil, tensorName, width)
	}
	if err != nil {
		return nil, errors.Join(w.failed(err), file.Close())
	}
	return w, nil
}

// Patient makes Write wait for room when the disk is full for a moment. The log gets a warning.
func (w *Writer) Patient(ctx context.Context, log *slog.Logger) {
	w.file.Patient(ctx, durable.WarnFull(log))
}

// Write appends a row.
func (w *Writer) Write(row []float32) error { return w.failed(w.rows.Write(row)) }

// Rows is the number of rows so far.
func (w *Writer) Rows() int { return w.rows.Rows() }

// Commit completes the file and gives it its name.
func (w *Writer) Commit() error {
	if err := w.rows.Close(); err != nil {
		return w.failed(err)
	}
	return w.failed(w.file.Commit())
}

// Close removes what was not committed; after Commit it does nothing.
func (w *Writer) Close() error { return w.failed(w.file.Close()) }

func (w *Writer) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("features: cannot write %q: %w", w.name, err)
}

// WriteFile writes rows to a file, as Create does.
func WriteFile(name string, rows Rows) (err error) {
	w, err := Create(name, rows.Width())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	row := make([]float32, rows.Width())
	for i := range rows.Len() {
		if err := rows.Read(i, row); err != nil {
			return err
		}
		if err := w.Write(row); err != nil {
			return err
		}
	}
	return w.Commit()
}
