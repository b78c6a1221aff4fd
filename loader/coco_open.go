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

// openText opens a file, decompressed when its name ends in .gz. Close closes both.
func openText(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if !strings.EqualFold(filepath.Ext(path), ".gz") {
		return f, nil
	}
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%q is not a gzip file: %w: %w", path, err, ErrAnnotations)
	}
	return struct {
		io.Reader
		io.Closer
	}{z, f}, nil
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
