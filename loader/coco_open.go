package loader

import (
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
	if mark, _ := text.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = text.Discard(3) // cannot fail: the bytes are in the buffer
	}
	return struct {
		io.Reader
		io.Closer
	}{text, f}, nil
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
