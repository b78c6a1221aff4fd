// Package input opens files that the user names, without waiting on pipes and devices.
//
// Opening a named pipe waits until another program writes to it, and reading a terminal or another device may
// never end. So a path is checked before it is opened. Data must lie in regular files, because they are read
// again when a run is resumed. A file that is read once, such as a configuration, may also be a pipe. Reads
// end with the context.
package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// ErrNoFile is wrapped by the errors about a path that is a folder, a pipe, a device or a socket.
var ErrNoFile = errors.New("it is no regular file")

// File is an open file whose Read ends with a context. ReadAt and Close work on after that.
type File struct {
	*os.File
	size int64
	ctx  context.Context
	stop func() bool // ends watching ctx; nil for a regular file
	read bool        // anything
}

// Open opens a regular file for reading. The error names the path, and wraps ErrNoFile if it is something
// else.
func Open(ctx context.Context, path string) (*File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := regular(path, info); err != nil {
		return nil, err
	}
	return open(ctx, path, info)
}

// OpenFile is Open without a context, for small files or files read piece by piece.
func OpenFile(path string) (*File, error) { return Open(context.Background(), path) }

// OpenStream is Open that also accepts a pipe, as shells make one of <(command). A pipe without a writer is
// an error when it is read.
func OpenStream(ctx context.Context, path string) (*File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeNamedPipe == 0 {
		if err := regular(path, info); err != nil {
			return nil, err
		}
		return open(ctx, path, info)
	}
	f, err := openPipe(path)
	if err != nil {
		return nil, err
	}
	wake := func() { _ = f.SetReadDeadline(time.Unix(0, 1)) } // if it fails, the read waits for the pipe
	return &File{File: f, ctx: ctx, stop: context.AfterFunc(ctx, wake)}, nil
}

func open(ctx context.Context, path string, info fs.FileInfo) (*File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &File{File: f, size: info.Size(), ctx: ctx}, nil
}

// regular returns the reason why a path cannot be read as a file, or nil for a regular file.
func regular(path string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return fmt.Errorf("%q is a folder: name a file in it: %w", path, ErrNoFile)
	default:
		return fmt.Errorf("%q is %s: write its content to a file and name that: %w", path, Kind(mode), ErrNoFile)
	}
}

// Kind names what a path is if it is not a regular file.
func Kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// Size is the length of a regular file in bytes when it was opened, 0 for a pipe.
func (f *File) Size() int64 { return f.size }

// Read continues reading. Once the context has ended, it returns the context's error.
func (f *File) Read(p []byte) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := f.File.Read(p)
	f.read = f.read || n > 0
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded) && f.ctx.Err() != nil:
		err = f.ctx.Err()
	case errors.Is(err, io.EOF) && f.stop != nil && !f.read:
		err = fmt.Errorf("%q is a pipe without a writer", f.Name())
	}
	return n, err
}

// Close closes the file.
func (f *File) Close() error {
	if f.stop != nil {
		f.stop()
	}
	return f.File.Close()
}
