package loader

import (
	"archive/zip"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// ErrAnnotations is wrapped by the errors about a file of annotations, ids, rates or noise that does
// not follow its format or does not fit the set. Such a file stops the run.
var ErrAnnotations = errors.New("unusable annotation file")

// Limits of a file of annotations, far beyond COCO: 600,000 captions in 70 MB, the longest element
// below 2 kB.
const (
	maxAnnotationBytes   = 8 << 30 // after decompression
	maxAnnotationElement = 4 << 20 // one element of an array
	maxAnnotationRecords = 20_000_000
	maxAnnotationDepth   = 1000
)

// openText opens a file, decompressed where it begins like a gzip file, and without the byte order mark
// that some editors put before UTF-8. Close closes all.
func openText(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	text := bufio.NewReader(f)
	switch magic, _ := text.Peek(2); {
	case string(magic) == "\x1f\x8b":
		z, err := gzip.NewReader(text)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("%q is damaged: %w: %w", path, err, ErrAnnotations)
		}
		text = bufio.NewReader(z)
	case strings.EqualFold(filepath.Ext(path), ".gz"):
		f.Close()
		return nil, fmt.Errorf("%q is not a gzip file, though its name says so: %w", path, ErrAnnotations)
	}
	return withoutMark(text, f), nil
}

// withoutMark skips a byte order mark.
func withoutMark(text *bufio.Reader, closer io.Closer) io.ReadCloser {
	if mark, _ := text.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = text.Discard(3) // cannot fail: the bytes are in the buffer
	}
	return struct {
		io.Reader
		io.Closer
	}{text, closer}
}

// openAnnotations is openText that also opens a zip archive with one file of annotations in it: the
// one that ends in videodatainfo.json, as those of MSR-VTT do, else the only one that ends in .json.
func openAnnotations(path string) (io.ReadCloser, error) {
	if zipped, err := isZip(path); err != nil {
		return nil, err
	} else if !zipped {
		return openText(path)
	}
	archive, err := zip.OpenReader(path)
	if err != nil {
		return nil, fmt.Errorf("%q is damaged: %w: %w", path, err, ErrAnnotations)
	}
	member, err := annotationMember(archive.File)
	if err != nil {
		archive.Close()
		return nil, fmt.Errorf("%q: %w: %w", path, err, ErrAnnotations)
	}
	r, err := member.Open()
	if err != nil {
		archive.Close()
		return nil, fmt.Errorf("%q: cannot open %q in it: %w: %w", path, clipID(member.Name), err, ErrAnnotations)
	}
	return withoutMark(bufio.NewReader(r), closers{r, archive}), nil
}

// isZip tells whether a file begins like a zip archive.
func isZip(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	var magic [4]byte
	n, err := io.ReadFull(f, magic[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	return string(magic[:n]) == "PK\x03\x04", nil
}

// annotationMember chooses the file of annotations of an archive.
func annotationMember(files []*zip.File) (*zip.File, error) {
	for _, ending := range []string{"videodatainfo.json", ".json"} {
		var found []*zip.File
		for _, f := range files {
			if strings.HasSuffix(f.Name, ending) {
				found = append(found, f)
			}
		}
		if len(found) == 1 {
			return found[0], nil
		}
		if len(found) > 1 {
			return nil, fmt.Errorf("%d files end in %q, first %q and %q: unpack the one to use", len(found), ending, clipID(found[0].Name), clipID(found[1].Name))
		}
	}
	return nil, fmt.Errorf("none of the %d files in it ends in .json", len(files))
}

// closers closes all, in order.
type closers []io.Closer

func (c closers) Close() error {
	var err error
	for _, each := range c {
		err = errors.Join(err, each.Close())
	}
	return err
}

// budgetReader fails once more has been read than granted, so that one endless string or a
// compressed bomb cannot fill the memory.
type budgetReader struct {
	r       io.Reader
	read    int64
	granted int64
}

func (b *budgetReader) Read(p []byte) (int, error) {
	if b.read >= b.granted {
		if b.granted >= maxAnnotationBytes {
			return 0, fmt.Errorf("more than %d bytes", int64(maxAnnotationBytes))
		}
		return 0, fmt.Errorf("an element of more than %d bytes", maxAnnotationElement)
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.granted-b.read)])
	b.read += int64(n)
	return n, err
}
