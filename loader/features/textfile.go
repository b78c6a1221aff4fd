package features

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"nmn/internal/input"
)

// openText opens a text file, plain or compressed with gzip, and skips a byte order mark.
func openText(ctx context.Context, name string) (*bufio.Reader, io.Closer, error) {
	f, err := input.Open(ctx, name)
	if err != nil {
		return nil, nil, fmt.Errorf("features: %w", err)
	}
	text := bufio.NewReaderSize(f, 1<<16)
	if magic, _ := text.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(text)
		if err != nil {
			_ = f.Close() // it was only read: the first error is the one to report
			return nil, nil, formatf("features: %q is a damaged gzip file (%v): copy or write it again", name, err)
		}
		text = bufio.NewReaderSize(inflated{z}, 1<<16)
	}
	skipMark(text)
	return text, f, nil
}

// inflated reports errors of a compressed text that ends early or fails its checksum.
type inflated struct{ z *gzip.Reader }

func (i inflated) Read(p []byte) (int, error) {
	n, err := i.z.Read(p)
	if err != nil && err != io.EOF && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		err = formatf("the compressed file is cut short or damaged (%v): copy or write it again", err)
	}
	return n, err
}

// skipMark drops the byte order mark with which some programs begin UTF-8.
func skipMark(r *bufio.Reader) {
	if mark, _ := r.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = r.Discard(3) // cannot fail: the bytes are in the buffer
	}
}

// kindOf returns the extension of a file's name in lower case, without the extension of compression.
func kindOf(name string) string {
	name = strings.TrimSuffix(strings.ToLower(name), ".gz")
	return filepath.Ext(name)
}

// maxLine bounds one line or row of text: 2,000,000 numbers.
const maxLine = 64 << 20

// lineLimit fails once more has been read than one row may hold, so that a file that never ends a row
// cannot fill the memory.
type lineLimit struct {
	r          io.Reader
	most, left int64
}

func (l *lineLimit) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, formatf("a row of more than %d bytes", l.most)
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}
