package origin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"time"
)

// Place is a file that something is made from.
type Place struct {
	// Name is what the file is known by wherever it lies: the key of the setting that names it, and for a file of a
	// folder a slash and its path in there behind that.
	Name string
	Path string // where it lies now
	// ByContent says that the content counts. Of other files it is read on request alone.
	ByContent bool
}

// File is a file as it was found.
type File struct {
	Place
	Size     int64 // bytes
	Modified time.Time
	Digest   string // SHA-256 of the content in hex; empty where that was not read
}

// Find looks at the files of places, and reads those whose content counts; with content all of them. What is not there,
// or is no regular file, is left out: whoever needs it says so better. A name that comes again is the same file.
func Find(ctx context.Context, places []Place, content bool) (List, error) {
	list := make(List, 0, len(places))
	seen := make(map[string]bool, len(places))
	for _, p := range places {
		if seen[p.Name] {
			continue
		}
		seen[p.Name] = true
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		info, err := os.Stat(p.Path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		f := File{Place: p, Size: info.Size(), Modified: info.ModTime()}
		if p.ByContent || content {
			if f.Digest, err = Digest(ctx, p.Path); err != nil {
				return nil, err
			}
		}
		list = append(list, f)
	}
	return list, nil
}

// Digest is the SHA-256 of a file in hex.
func Digest(ctx context.Context, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	buffer := make([]byte, 1<<20)
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
