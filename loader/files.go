package loader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"nmn/loader/picture"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// FileSource reads the pictures of a folder: bag i is file i, of one frame. Files lie under the root:
// neither a name with ".." nor a symbolic link leads out of it. Only regular files are read.
type FileSource struct {
	root   *os.Root
	files  []string
	limits picture.Limits
	reads  *sync.Pool // of *[]byte: the bytes of a file while it is decoded
}

// NewFileSource opens the folder root for the files named relative to it, with DefaultLimits. It
// checks the names, but reads no file: one that is missing or broken is reported when it is read.
// Close it when it is no longer used.
func NewFileSource(root string, files []string) (*FileSource, error) {
	for i, name := range files {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return nil, fmt.Errorf("pictures of %q: file %d is %q, which is not a path inside the folder",
				root, i, name)
		}
	}
	opened, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("pictures: cannot open the folder %q: %w", root, err)
	}
	reads := &sync.Pool{New: func() any { return new([]byte) }}
	return &FileSource{root: opened, files: files, limits: picture.DefaultLimits(), reads: reads}, nil
}

// WithLimits returns a source of the same files with other limits. Both share the open folder, so
// closing one closes both.
func (s *FileSource) WithLimits(limits picture.Limits) (*FileSource, error) {
	if err := limits.Validate(); err != nil {
		return nil, err
	}
	limited := *s
	limited.limits = limits
	return &limited, nil
}

// Limits are those of its pictures.
func (s *FileSource) Limits() picture.Limits { return s.limits }

// WithMaxPixels is a source of the same files that refuses pictures of more than n pixels.
func (s *FileSource) WithMaxPixels(n int) (Source, error) {
	limits := s.limits
	limits.MaxPixels = n
	return s.WithLimits(limits)
}

// Close closes the folder. Reads that follow fail.
func (s *FileSource) Close() error { return s.root.Close() }

// Frames is 1.
func (s *FileSource) Frames(int) int { return 1 }

// Read decodes file bag as picture.Decode describes. The error names the file, its index and its
// size, and wraps ErrCorrupt unless the system itself has failed (too many open files, no memory).
func (s *FileSource) Read(ctx context.Context, bag, frame int, pic *picture.Picture) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.has(bag, frame); err != nil {
		return err
	}
	buffer := s.reads.Get().(*[]byte)
	defer s.reads.Put(buffer)
	if err := s.load(s.files[bag], buffer); err != nil {
		return fmt.Errorf("cannot read %q (image %d): %w", s.files[bag], bag, err)
	}
	if err := picture.Decode(*buffer, pic, s.limits.MaxPixels); err != nil {
		return fmt.Errorf("cannot decode %q (image %d, %d bytes): %w", s.files[bag], bag, len(*buffer), err)
	}
	return nil
}

func (s *FileSource) has(bag, frame int) error {
	if bag < 0 || bag >= len(s.files) || frame != 0 {
		return fmt.Errorf("pictures: there is no frame %d of file %d among %d files of one frame",
			frame, bag, len(s.files))
	}
	return nil
}

// load reads a whole file into buffer.
func (s *FileSource) load(name string, buffer *[]byte) error {
	// Looked at first, because opening a named pipe would wait for its writer.
	info, err := s.root.Stat(name)
	if err != nil {
		return unusable(err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: not a regular file but %v", ErrCorrupt, info.Mode().Type())
	}
	if info.Size() > s.limits.MaxBytes {
		return fmt.Errorf("%w: %d bytes are more than the limit of %d", ErrCorrupt, info.Size(), s.limits.MaxBytes)
	}
	file, err := s.root.Open(name)
	if err != nil {
		return unusable(err)
	}
	defer file.Close()
	n := int(info.Size())
	if cap(*buffer) < n {
		*buffer = make([]byte, n)
	}
	*buffer = (*buffer)[:n]
	if read, err := io.ReadFull(file, *buffer); err != nil {
		return unusable(fmt.Errorf("%d of %d bytes: %w", read, n, err))
	}
	return nil
}

// unusable marks a fault of one file, as opposed to a fault of the system, which would hit any file.
func unusable(err error) error {
	for _, system := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EIO, os.ErrClosed} {
		if errors.Is(err, system) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}
