package weights

import (
	"archive/zip"
	"fmt"
	"io"
	"path"
	"strings"
)

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
