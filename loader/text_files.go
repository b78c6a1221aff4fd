package loader

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"nmn/internal/durable"
	"nmn/internal/fault"
	"nmn/internal/input"
)

// ErrAnnotations is what errors are, by errors.Is, if a file of annotations, ids, rates or noise does not follow its
// format or does not fit the set. Such a file stops the run.
var ErrAnnotations = errors.New("unusable annotation file")

// Unusable returns err as an error that is also ErrAnnotations. Its text stays the same.
func Unusable(err error) error { return fault.As(ErrAnnotations, err) }

// IsFolder reports whether a path leads to a folder.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// WalkFolder visits the files and the folders below a folder in the order of their names, by their paths in it, with
// slashes. It leaves out hidden ones, whose names begin with a dot.
func WalkFolder(ctx context.Context, folder string, visit func(file string, entry fs.DirEntry) error) error {
	return fs.WalkDir(os.DirFS(folder), ".", func(file string, entry fs.DirEntry, err error) error {
		switch err = cmp.Or(err, ctx.Err()); {
		case err != nil || file == ".":
			return err
		case !strings.HasPrefix(entry.Name(), "."):
			return visit(file, entry)
		case entry.IsDir():
			return fs.SkipDir
		}
		return nil
	})
}

// OpenText opens a regular file. It decompresses the file if it begins like a gzip file, and skips the byte
// order mark that some editors write. UTF-16, as spreadsheets write it, is read as UTF-8. Reads end with
// ctx. Close closes all.
func OpenText(ctx context.Context, path string) (io.ReadCloser, error) {
	text, _, err := OpenMarkedText(ctx, path)
	return text, err
}

// WriteText writes a file, compressed if its name ends in .gz, which appears whole or not at all.
func WriteText(path string, write func(io.Writer) error) error {
	return durable.Stream(path, 0o644, func(out io.Writer) error {
		if !strings.EqualFold(filepath.Ext(path), ".gz") {
			return write(out)
		}
		z := gzip.NewWriter(out)
		return cmp.Or(write(z), z.Close())
	})
}

// OpenMarkedText is OpenText that also returns the byte order mark, which is empty for none.
func OpenMarkedText(ctx context.Context, path string) (_ io.ReadCloser, mark string, err error) {
	f, err := input.Open(ctx, path)
	if err != nil {
		return nil, "", err
	}
	text := bufio.NewReader(f)
	switch magic, _ := text.Peek(2); {
	case string(magic) == "\x1f\x8b":
		z, err := gzip.NewReader(text)
		if err != nil {
			f.Close()
			return nil, "", Unusable(fmt.Errorf("%q is damaged: %w", path, err))
		}
		text = bufio.NewReader(z)
	case strings.EqualFold(filepath.Ext(path), ".gz"):
		f.Close()
		return nil, "", Unusable(fmt.Errorf("%q is not a gzip file, though its name says so", path))
	}
	decoded := input.UTF8(text)
	if start, _ := decoded.Peek(len(byteOrderMark)); decoded != text || string(start) == byteOrderMark {
		mark = byteOrderMark
	}
	return WithoutMark(decoded, f), mark, nil
}

const byteOrderMark = "\xef\xbb\xbf"

// WithoutMark is the text less a byte order mark at its start; Close closes closer.
func WithoutMark(text *bufio.Reader, closer io.Closer) io.ReadCloser {
	input.SkipMark(text)
	return struct {
		io.Reader
		io.Closer
	}{text, closer}
}

// Excerpt is the beginning of a name or of a cell that a file gives, short enough for a message.
func Excerpt(id string) string {
	if len(id) > 80 {
		return id[:80] + "..."
	}
	return id
}

// TrimID cuts blanks and byte order marks from the ends of a line, as lists of identifiers are read.
func TrimID(line string) string { return strings.TrimFunc(line, blankOrMark) }

func blankOrMark(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }
