package annotation

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"

	"nmn/internal/input"
	"nmn/loader"
)

// Limits of a file of annotations, far beyond COCO: 600,000 captions in 70 MB, the longest element below 2 kB.
const (
	maxFileBytes    = 8 << 30 // after decompression
	maxElementBytes = 4 << 20 // one element of an array
	maxElements     = 20_000_000
	maxDepth        = 1000
)

// openFile is loader.OpenText that also opens a zip archive with one file of annotations in it: the one that
// ends in videodatainfo.json, as in MSR-VTT, else the only one that ends in .json. A folder of pictures with text
// files becomes JSON lines.
func openFile(ctx context.Context, path string) (io.ReadCloser, error) {
	if loader.IsFolder(path) {
		return openFolder(ctx, path), nil
	}
	if zipped, err := isZip(ctx, path); err != nil {
		return nil, err
	} else if !zipped {
		return loader.OpenText(ctx, path)
	}
	archive, err := zip.OpenReader(path)
	if err != nil {
		return nil, loader.Unusable(fmt.Errorf("%q is damaged: %w", path, err))
	}
	member, err := archiveMember(archive.File)
	if err != nil {
		archive.Close()
		return nil, loader.Unusable(fmt.Errorf("%q: %w", path, err))
	}
	r, err := member.Open()
	if err != nil {
		archive.Close()
		return nil, loader.Unusable(fmt.Errorf("%q: cannot open %q in it: %w", path, loader.Excerpt(member.Name), err))
	}
	return loader.WithoutMark(bufio.NewReader(r), closers{r, archive}), nil
}

// isZip reports whether a file begins like a zip archive.
func isZip(ctx context.Context, path string) (bool, error) {
	f, err := input.Open(ctx, path)
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

func archiveMember(files []*zip.File) (*zip.File, error) {
	for _, ending := range []string{"videodatainfo.json", ".json"} {
		var members []*zip.File
		for _, f := range files {
			if strings.HasSuffix(f.Name, ending) {
				members = append(members, f)
			}
		}
		if len(members) == 1 {
			return members[0], nil
		}
		if len(members) > 1 {
			return nil, fmt.Errorf("%d files end in %q, first %q and %q: unpack the one to use",
				len(members), ending, loader.Excerpt(members[0].Name), loader.Excerpt(members[1].Name))
		}
	}
	return nil, fmt.Errorf("none of the %d files in it ends in .json", len(files))
}

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
		if b.granted >= maxFileBytes {
			return 0, fmt.Errorf("more than %d bytes", int64(maxFileBytes))
		}
		return 0, fmt.Errorf("an element of more than %d bytes", maxElementBytes)
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.granted-b.read)])
	b.read += int64(n)
	return n, err
}

// utf8Reader fails at the first byte that is not UTF-8, and names its line.
type utf8Reader struct {
	valid io.Reader
	line  int // of the next byte, from 1
}

func newUTF8Reader(r io.Reader) *utf8Reader {
	return &utf8Reader{transform.NewReader(r, encoding.UTF8Validator), 1}
}

func (u *utf8Reader) Read(p []byte) (int, error) {
	n, err := u.valid.Read(p)
	u.line += bytes.Count(p[:n], []byte("\n"))
	if errors.Is(err, encoding.ErrInvalidUTF8) {
		err = fmt.Errorf("line %d is not UTF-8: save the file in UTF-8", u.line)
	}
	return n, err
}
