package loader

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"nmn/loader/picture"
)

// identified is a Source whose pictures can be distinguished without reading them.
type identified interface {
	// Identity names the file of a frame, with its size and time of modification.
	Identity(ctx context.Context, bag, frame int) (string, error)
}

// Identity returns a name of a frame that changes if the picture changes. It consists of path, size in bytes
// and time of modification for a file, a digest of the stored bytes for a frame in shards, and a digest of
// the pixels for a painted frame. If a picture cannot be read, the error wraps ErrCorrupt.
func Identity(ctx context.Context, s Source, bag, frame int) (string, error) {
	if files, ok := s.(identified); ok {
		return files.Identity(ctx, bag, frame)
	}
	stored, err := ReadEncoded(ctx, s, bag, frame, nil)
	if err == nil {
		return fmt.Sprintf("stored\x00%x", sha256.Sum256(stored)), nil
	}
	if !errors.Is(err, errors.ErrUnsupported) {
		return "", err
	}
	var pic picture.Picture
	if err := s.Read(ctx, bag, frame, &pic); err != nil {
		return "", err
	}
	return fmt.Sprintf("pixels\x00%d\x00%d\x00%x", pic.Width, pic.Height, sha256.Sum256(pic.Pix)), nil
}

// FileOf returns the file name in an identity, without its folder, and its size: the parts that survive
// copying. It is empty for frames that are identified by their content.
func FileOf(identity string) string {
	parts := strings.Split(identity, "\x00")
	if len(parts) != 3 {
		return ""
	}
	return filepath.Base(parts[0]) + "\x00" + parts[1]
}

// Identity names file bag.
func (s *FileSource) Identity(_ context.Context, bag, frame int) (string, error) {
	if err := s.has(bag, frame); err != nil {
		return "", err
	}
	path, err := filepath.Abs(PathIn(s.folder, s.files[bag]))
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", unusable(err)
	}
	return fmt.Sprintf("%s\x00%d\x00%d", path, info.Size(), info.ModTime().UnixNano()), nil
}

// HeldVectors are vectors in memory.
type HeldVectors struct {
	Dim  int       // length of a vector
	Rows []float32 // vectors of all frames of all bags, concatenated
	Why  []error   // per bag: the reason that it has no vector; nil if it has one, and nil for all
	// Offsets gives bag i the vectors Offsets[i] to Offsets[i+1]-1; nil if each bag has one.
	Offsets []int
}

// Frames is the number of vectors of a bag.
func (v *HeldVectors) Frames(bag int) int {
	if v.Offsets == nil {
		return 1
	}
	return v.Offsets[bag+1] - v.Offsets[bag]
}

// bags is the number of bags.
func (v *HeldVectors) bags() int {
	if v.Offsets == nil {
		return len(v.Rows) / v.Dim
	}
	return len(v.Offsets) - 1
}

// Width is the length of all vectors.
func (v *HeldVectors) Width() int { return v.Dim }

// Read copies a vector of a bag.
func (v *HeldVectors) Read(ctx context.Context, bag, frame int, dst []float32) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if bag < 0 || bag >= v.bags() || frame < 0 || frame >= v.Frames(bag) {
		return fmt.Errorf("there is no frame %d of sample %d among the vectors of %d samples", frame, bag, v.bags())
	}
	if v.Why != nil && v.Why[bag] != nil {
		return v.Why[bag]
	}
	row := bag
	if v.Offsets != nil {
		row = v.Offsets[bag] + frame
	}
	copy(dst, v.Rows[row*v.Dim:(row+1)*v.Dim])
	return nil
}
