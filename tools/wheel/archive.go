package main

import (
	"archive/zip"
	"bufio"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// entry is a file of the wheel: its text, or the file that it is copied from.
type entry struct {
	name       string
	text, file string
	executable bool
}

// writeWheel writes an archive of the entries and their record, first under another name, and returns its
// size.
func writeWheel(name string, files []entry, made source) (size int64, err error) {
	aside := name + ".part"
	out, err := os.Create(aside)
	if err != nil {
		return 0, err
	}
	defer os.Remove(aside) // in vain once it has its name
	buffered := bufio.NewWriterSize(out, 1<<20)
	if err = writeArchive(buffered, files, made); err == nil {
		err = buffered.Flush()
	}
	if info, statErr := out.Stat(); statErr == nil {
		size = info.Size()
	}
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return 0, err
	}
	return size, os.Rename(aside, name)
}

// writeArchive writes the entries, and last RECORD, which names them all with SHA-256 and size (PEP 376).
func writeArchive(out io.Writer, files []entry, made source) error {
	archive := zip.NewWriter(out)
	archive.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	var record strings.Builder
	for _, f := range files {
		line, err := add(archive, f, made)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		record.WriteString(line)
	}
	own := entry{name: distribution + "-" + made.version + ".dist-info/RECORD"}
	own.text = record.String() + own.name + ",,\n"
	if _, err := add(archive, own, made); err != nil {
		return err
	}
	return archive.Close()
}

// add writes an entry and returns its line of the record.
func add(archive *zip.Writer, f entry, made source) (line string, err error) {
	if strings.ContainsAny(f.name, ",\"\n") {
		return "", fmt.Errorf("a name of the record must hold no comma, quotation mark or line break")
	}
	header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: made.time}
	header.SetMode(0o644)
	if f.executable {
		header.SetMode(0o755)
	}
	to, err := archive.CreateHeader(header)
	if err != nil {
		return "", err
	}
	from, err := f.open()
	if err != nil {
		return "", err
	}
	defer from.Close()
	digest := sha256.New()
	size, err := io.Copy(io.MultiWriter(to, digest), from)
	sum := base64.RawURLEncoding.EncodeToString(digest.Sum(nil))
	return fmt.Sprintf("%s,sha256=%s,%d\n", f.name, sum, size), err
}

func (f entry) open() (io.ReadCloser, error) {
	if f.file == "" {
		return io.NopCloser(strings.NewReader(f.text)), nil
	}
	info, err := os.Stat(f.file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "pack", Path: f.file, Err: fs.ErrInvalid}
	}
	return os.Open(f.file)
}
