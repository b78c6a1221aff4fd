package loader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"nmn/loader/picture"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
)

// FileSource reads files of pictures: bag i is file i, of one frame. Symbolic links are followed. Only
// regular files are read, and only as pictures, so files may be anywhere.
type FileSource struct {
	folder string
	files  []string
	reads  *sync.Pool // holds *[]byte: the bytes of a file while it is decoded
}

// NewFileSource takes paths with slashes, relative to a folder or absolute. It looks for the folder,
// but reads no file: one that is missing or broken is reported when it is read.
func NewFileSource(folder string, files []string) (*FileSource, error) {
	switch info, err := os.Stat(folder); {
	case err != nil:
		return nil, fmt.Errorf("pictures: cannot open the folder %q: %w", folder, err)
	case !info.IsDir():
		return nil, fmt.Errorf("pictures: %q is no folder", folder)
	}
	reads := &sync.Pool{New: func() any { return new([]byte) }}
	return &FileSource{folder: folder, files: files, reads: reads}, nil
}

// PathIn returns the path of a file whose slash-separated name is absolute or relative to a folder.
func PathIn(folder, file string) string {
	if native := filepath.FromSlash(file); filepath.IsAbs(native) {
		return native
	}
	return filepath.Join(folder, filepath.FromSlash(file))
}

// Frames is 1.
func (s *FileSource) Frames(int) int { return 1 }

// Read decodes file bag as picture.Decode describes. The error names the file, its index and its
// size, and wraps ErrCorrupt unless the system itself has failed (too many open files, no memory).
func (s *FileSource) Read(ctx context.Context, bag, frame int, pic *picture.Picture) (err error) {
	buffer := s.reads.Get().(*[]byte)
	defer s.reads.Put(buffer)
	if *buffer, err = s.ReadEncoded(ctx, bag, frame, *buffer); err != nil {
		return err
	}
	if err := picture.Decode(*buffer, pic); err != nil {
		return fmt.Errorf("cannot decode %q (image %d, %d bytes): %w", s.files[bag], bag, len(*buffer), err)
	}
	return nil
}

// ReadEncoded reads the file of a bag as it is stored; see the function of that name.
func (s *FileSource) ReadEncoded(ctx context.Context, bag, frame int, buffer []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return buffer, err
	}
	if err := s.has(bag, frame); err != nil {
		return buffer, err
	}
	if err := s.load(s.files[bag], &buffer); err != nil {
		return buffer, fmt.Errorf("cannot read %q (image %d): %w", s.files[bag], bag, err)
	}
	return buffer, nil
}

func (s *FileSource) has(bag, frame int) error {
	if bag < 0 || bag >= len(s.files) || frame != 0 {
		return fmt.Errorf("pictures: there is no frame %d of file %d among %d files of one frame", frame, bag, len(s.files))
	}
	return nil
}

// load reads a whole file into buffer.
func (s *FileSource) load(name string, buffer *[]byte) error {
	path := PathIn(s.folder, name)
	// Looked at first, because opening a named pipe would wait for its writer.
	info, err := os.Stat(path)
	if err != nil {
		return unusable(err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: not a regular file but %v", ErrCorrupt, info.Mode().Type())
	}
	if info.Size() > picture.MaxFileBytes {
		return fmt.Errorf("%w: %d bytes are more than the limit of %d", ErrCorrupt, info.Size(), picture.MaxFileBytes)
	}
	file, err := os.Open(path)
	if err != nil {
		return unusable(err)
	}
	defer file.Close()
	n := int(info.Size())
	*buffer = resized(*buffer, n)
	if read, err := io.ReadFull(file, *buffer); err != nil {
		return unusable(fmt.Errorf("%d of %d bytes: %w", read, n, err))
	}
	return nil
}

// unusable marks a fault of one file, as opposed to a fault of the system, which would hit any file.
func unusable(err error) error {
	system := []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EIO, os.ErrClosed}
	if slices.ContainsFunc(system, func(kind error) bool { return errors.Is(err, kind) }) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}
