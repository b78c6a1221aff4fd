// Package origin records the files that something was made from, so that a later run can check whether they
// are unchanged. It compares their content. If reading that takes too long, it compares sizes and times of
// modification, or sizes and the ends of files.
package origin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"nmn/internal/parallel"
)

// Place is a file that something is made from.
type Place struct {
	// Name identifies the file wherever it lies: the key of the setting that names it. For a file of a
	// folder, a slash and its path in the folder follow.
	Name      string
	Path      string // current path
	ByContent bool   // set if the content counts. Other files are read only on request.
}

// File is a file as it was found.
type File struct {
	Place
	Size     int64 // bytes
	Modified time.Time
	Digest   string // from Digest, or from Ends; empty if the content was not read

	there bool
}

// Find lists the files of places, and reads those whose content counts, or with content all of them that can
// be read. It leaves out missing files and those that are not regular: their reader has a better error. A
// repeated name is one file.
func Find(ctx context.Context, places []Place, content bool) (List, error) {
	list := make(List, 0, len(places))
	seen := make(map[string]bool, len(places))
	for _, p := range places {
		if !seen[p.Name] {
			seen[p.Name] = true
			list = append(list, File{Place: p})
		}
	}
	err := parallel.Try(ctx, len(list), atOnce, func(i int) error { return list[i].find(ctx, content) })
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(f File) bool { return !f.there }), nil
}

// find looks at a file.
func (f *File) find(ctx context.Context, content bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	info, err := os.Stat(f.Path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f.there, f.Size, f.Modified = true, info.Size(), info.ModTime()
	if !f.ByContent && !content {
		return nil
	}
	f.Digest, err = Digest(ctx, f.Path)
	if !f.ByContent && ctx.Err() == nil {
		return nil // an unreadable picture shows when it is read
	}
	return err
}

// atOnce is how many files are looked at together: a file server takes its time for each.
const atOnce = 16

// endBytes is how much of each end of a file Ends reads, and endsMark begins its digests.
const (
	endBytes = 4 << 10
	endsMark = "ends:"
)

// Ends is the SHA-256 of the first and the last 4 KiB of a file in hex, after "ends:". Together with the size it
// recognises a picture that was written again, for the cost of opening the file. An edit between the ends that keeps
// the size is not noticed.
func Ends(ctx context.Context, path string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, start := range []int64{0, max(info.Size()-endBytes, 0)} {
		if _, err := io.Copy(h, io.NewSectionReader(f, start, endBytes)); err != nil {
			return "", fmt.Errorf("cannot read %s for its digest: %w", path, err)
		}
	}
	return endsMark + hex.EncodeToString(h.Sum(nil)), nil
}

// ofEnds reports whether a digest is from Ends.
func ofEnds(digest string) bool { return strings.HasPrefix(digest, endsMark) }

// Digest is the SHA-256 of a file in hex.
func Digest(ctx context.Context, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	buffer := make([]byte, min(max(info.Size()+1, 1<<9), 1<<20)) // most pictures are small
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		n, err := f.Read(buffer)
		h.Write(buffer[:n])
		if err == io.EOF {
			return hex.EncodeToString(h.Sum(nil)), nil
		}
		if err != nil {
			return "", fmt.Errorf("cannot read %s for its digest: %w", path, err)
		}
	}
}
