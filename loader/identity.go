package loader

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// identified is a Source whose pictures can be told apart without reading them.
type identified interface {
	// Identity names the files of the frames of a bag, with size and time of modification of each.
	Identity(bag int) (string, error)
}

// Identity names the pictures of a bag such that it is another one where a file has changed: by path, size in bytes and
// time of modification of each. A file that is not there gives an error that wraps ErrCorrupt, and a Source without files
// one that wraps errors.ErrUnsupported.
func Identity(s Source, bag int) (string, error) {
	files, ok := s.(identified)
	if !ok {
		return "", fmt.Errorf("pictures: a source of the kind %T has no files: %w", s, errors.ErrUnsupported)
	}
	return files.Identity(bag)
}

// Identity names file bag.
func (s *FileSource) Identity(bag int) (string, error) {
	if err := s.has(bag, 0); err != nil {
		return "", err
	}
	info, err := s.root.Stat(filepath.FromSlash(s.files[bag]))
	if err != nil {
		return "", unusable(err)
	}
	path, err := filepath.Abs(filepath.Join(s.root.Name(), filepath.FromSlash(s.files[bag])))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s\x00%d\x00%d", path, info.Size(), info.ModTime().UnixNano()), nil
}

func (c chosenSource) Identity(bag int) (string, error) {
	if bag < 0 || bag >= len(c.indices) {
		return "", fmt.Errorf("there is no bag %d among %d", bag, len(c.indices))
	}
	return Identity(c.from, c.indices[bag])
}

// Identities joins those of frames.
func Identities(s Source, frames []int) (string, error) {
	all := make([]string, len(frames))
	for i, frame := range frames {
		var err error
		if all[i], err = Identity(s, frame); err != nil {
			return "", err
		}
	}
	return strings.Join(all, "\x00\x00"), nil
}

// HeldVectors are vectors in memory, one for each bag.
type HeldVectors struct {
	Dim  int       // of a vector
	Rows []float32 // of all bags, one behind the other
	Why  []error   // of each bag, why it has none; nil where it has one, and nil for all
}

// Frames is 1.
func (v *HeldVectors) Frames(int) int { return 1 }

// Width is the length of all vectors.
func (v *HeldVectors) Width() int { return v.Dim }

// Read copies the vector of a bag.
func (v *HeldVectors) Read(ctx context.Context, bag, frame int, dst []float32) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if bag < 0 || bag >= len(v.Rows)/v.Dim || frame != 0 {
		return fmt.Errorf("there is no frame %d of bag %d among %d vectors", frame, bag, len(v.Rows)/v.Dim)
	}
	if v.Why != nil && v.Why[bag] != nil {
		return v.Why[bag]
	}
	copy(dst, v.Rows[bag*v.Dim:(bag+1)*v.Dim])
	return nil
}
