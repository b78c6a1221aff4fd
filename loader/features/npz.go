package features

import (
	"archive/zip"
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"nmn/format/npy"
)

// openNPZ opens one array of an .npz file. An uncompressed array stays on disk. A compressed one is read into
// memory within the limit, and never beyond the size on which its header and the archive agree.
func openNPZ(ctx context.Context, name, array string, o *Options) (Rows, error) {
	f, err := openRegular(ctx, name)
	if err != nil {
		return nil, err
	}
	rows, err := npzRows(ctx, f, f.Size(), name, array, o)
	if err != nil {
		_ = f.Close() // it was only read
		return nil, fmt.Errorf("features: %q: %w", name, err)
	}
	if _, onDisk := rows.(*fileRows); !onDisk {
		err = f.Close()
	}
	return rows, err
}

// source is an open file.
type source interface {
	io.ReaderAt
	io.Closer
}

func npzRows(ctx context.Context, f source, size int64, name, array string, o *Options) (Rows, error) {
	z, err := zip.NewReader(f, size)
	if err != nil {
		return nil, formatf("%v", err)
	}
	entry, err := npzEntry(z, array)
	if err != nil {
		return nil, err
	}
	inside := func(err error) error { return fmt.Errorf("array %q: %w", strings.TrimSuffix(entry.Name, ".npy"), err) }
	if entry.Method != zip.Store {
		rows, err := inflate(ctx, entry, o)
		if err != nil {
			return nil, inside(err)
		}
		return rows, nil
	}
	start, err := entry.DataOffset()
	if err != nil {
		return nil, inside(formatf("%v", err))
	}
	length := int64(entry.CompressedSize64)
	if length < 0 || start > size || length > size-start {
		return nil, inside(formatf("the archive is cut short"))
	}
	a, err := npyArray(io.NewSectionReader(f, start, length), length)
	if err != nil {
		return nil, inside(err)
	}
	return newFileRows(name+": "+entry.Name, a, o.Missing, f), nil
}

// npzEntry finds an array by its name; without a name, the only one.
func npzEntry(z *zip.Reader, array string) (*zip.File, error) {
	var names []string
	seen := map[string]bool{}
	var member *zip.File
	for _, entry := range z.File {
		name, ok := strings.CutSuffix(entry.Name, ".npy")
		if !ok {
			continue
		}
		if seen[name] {
			return nil, formatf("the array %q is there twice", clip(name))
		}
		names, seen[name] = append(names, name), true
		if name == array || array == "" {
			member = entry
		}
	}
	return member, chosenArray(array, names)
}

// chosenArray returns why an array cannot be chosen from a file.
func chosenArray(array string, names []string) error {
	switch {
	case len(names) == 0:
		return formatf("it holds no array")
	case array == "" && len(names) > 1:
		return formatf("it holds the arrays %s: name one (`data.features.array`, `data.features.label_array`)", some(names))
	case array != "" && !slices.Contains(names, array):
		return formatf("it holds no array %q; there are %s", clip(array), some(names))
	}
	return nil
}

// inflate reads a compressed array.
func inflate(ctx context.Context, entry *zip.File, o *Options) (rows Rows, err error) {
	stream, err := entry.Open()
	if err != nil {
		return nil, formatf("%v", err)
	}
	defer func() {
		if closing := stream.Close(); err == nil && closing != nil {
			err = formatf("%v", closing)
		}
	}()
	r := bufio.NewReaderSize(stream, 1<<16)
	h, start, err := npy.ReadHeader(r)
	if err != nil {
		return nil, npyFault(err)
	}
	if err := checkNPY(h, int64(entry.UncompressedSize64)-start); err != nil {
		return nil, err
	}
	n, width, _ := matrixOf(h.Shape)
	if bytes := 4 * int64(n) * int64(width); bytes > o.limit() {
		return nil, formatf("it is compressed and takes %d bytes of memory, the limit is %d; write it with "+
			"numpy.savez or numpy.save, which stay on disk, or raise `data.features.memory_limit`", bytes, o.limit())
	}
	m := newMemoryRows(width)
	m.vector = len(h.Shape) == 1
	buffer, row := make([]byte, width*h.Width), make([]float32, width)
	for i := range n { // memory grows with what is there, whatever the archive claims
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if _, err := io.ReadFull(r, buffer); err != nil {
			return nil, formatf("row %d: the archive is cut short or damaged: %v", i+1, err)
		}
		h.Float32s(row, buffer)
		for c, v := range row {
			if unusable(v, o.Missing) {
				return nil, valuef("row %d, column %d is %v: %s", i+1, c+1, v, cureOf(v))
			}
		}
		if err := m.add(row); err != nil {
			return nil, err
		}
	}
	// Reading to the end compares the checksum.
	if _, err := r.ReadByte(); err != io.EOF {
		return nil, formatf("it goes on after its last row, or is damaged: %v", err)
	}
	return m, nil
}
