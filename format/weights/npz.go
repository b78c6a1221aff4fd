package weights

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"nmn/format/npy"
	"nmn/format/safetensors"
)

// readNPZ reads the arrays of an .npz archive. Arrays of text and other objects have neither type
// nor shape, and an error instead of elements.
func readNPZ(z *zip.Reader) (*File, error) {
	f := &File{Format: "NumPy"}
	for _, entry := range z.File {
		name, ok := strings.CutSuffix(entry.Name, ".npy")
		if !ok {
			continue
		}
		a, err := npzArray(entry, name)
		switch {
		case errors.Is(err, npy.ErrFormat):
			a = array{name: name, open: func() (elements, error) { return nil, err }}
		case err != nil:
			return nil, faultf("array %q: %v", clip(name), err)
		}
		f.arrays = append(f.arrays, a)
	}
	return f, nil
}

func npzArray(entry *zip.File, name string) (array, error) {
	r, err := openEntry(entry)
	if err != nil {
		return array{}, err
	}
	h, start, err := npy.ReadHeader(r)
	if err != nil {
		return array{}, err
	}
	a := array{name: name, shape: h.Shape, dtype: npyTypes[h.Descr[1:]]}
	n, err := count(h.Shape)
	if err != nil {
		return array{}, err
	}
	size, ok := byteCount(n, h.Width)
	switch {
	case !ok || uint64(start)+uint64(size) != entry.UncompressedSize64:
		return array{}, faultf("%s %v after a header of %d bytes does not fill the entry of %d bytes",
			h.Descr, h.Shape, start, entry.UncompressedSize64)
	case h.Fortran && len(h.Shape) > 1:
		return array{}, faultf("it is in Fortran order: save numpy.ascontiguousarray of it")
	}
	a.open = func() (elements, error) {
		r, err := openEntry(entry)
		if err != nil {
			return nil, err
		}
		h, _, err := npy.ReadHeader(r)
		if err != nil {
			return nil, err
		}
		return stream(r, h.Width, h.Float32s), nil
	}
	return a, nil
}

// npyTypes are the element types of NumPy without their byte order.
var npyTypes = map[string]safetensors.DType{
	"f2": safetensors.F16, "f4": safetensors.F32, "f8": safetensors.F64, "b1": safetensors.Bool,
	"i1": safetensors.I8, "i2": safetensors.I16, "i4": safetensors.I32, "i8": safetensors.I64,
	"u1": safetensors.U8, "u2": safetensors.U16, "u4": safetensors.U32, "u8": safetensors.U64,
}

// readZip reads a zip archive: PyTorch's format since version 1.6, and NumPy's arrays.
func readZip(r io.ReaderAt, size int64) (*File, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, faultf("zip archive: %v: it is cut short or damaged", err)
	}
	arrays := false
	for _, entry := range z.File {
		if path.Base(entry.Name) == "data.pkl" {
			return readTorch(z, strings.TrimSuffix(entry.Name, "data.pkl"))
		}
		arrays = arrays || strings.HasSuffix(entry.Name, ".npy")
	}
	if arrays {
		return readNPZ(z)
	}
	return nil, faultf("a zip archive with neither PyTorch's data.pkl nor NumPy's arrays (.npy) in it")
}

// zipEntries are the entries of an archive by name.
func zipEntries(z *zip.Reader) (map[string]*zip.File, error) {
	entries := make(map[string]*zip.File, len(z.File))
	for _, entry := range z.File {
		if _, twice := entries[entry.Name]; twice {
			return nil, faultf("zip archive: entry %q occurs twice", clip(entry.Name))
		}
		entries[entry.Name] = entry
	}
	return entries, nil
}

// openEntry reads an entry from its start, and compares its checksum when its last byte has been read.
func openEntry(entry *zip.File) (io.Reader, error) {
	r, err := entry.Open()
	if err != nil {
		return nil, faultf("zip entry %q: %v", clip(entry.Name), err)
	}
	return &entryReader{name: entry.Name, r: r, left: entry.UncompressedSize64}, nil
}

type entryReader struct {
	name string
	r    io.Reader
	left uint64 // as the archive claims: zip gives no more
}

func (e *entryReader) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	e.left -= min(e.left, uint64(n))
	if err == nil && e.left == 0 {
		_, err = e.r.Read(make([]byte, 1))
	}
	switch err {
	case nil, io.EOF:
		return n, err
	// it comes instead of the last bytes, which callers that have enough would accept unseen
	case zip.ErrChecksum:
		return 0, faultf("zip entry %q: the checksum is another: the file is damaged", clip(e.name))
	}
	return 0, fmt.Errorf("zip entry %q: %w", clip(e.name), err)
}
