// Package durable writes files that appear whole or not at all: they are written aside, synced and
// renamed, and the folder is synced, so that neither an error midway, nor a kill, nor a crash of the
// machine leaves half a file or harms the one that was there.
package durable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrNotRegular is wrapped by errors about a target that no file may replace: a folder, a
// device or a pipe.
var ErrNotRegular = errors.New("it is there and not a regular file")

// File is a file that is being written aside, in the folder of its target. It is not safe for use by
// several goroutines at once.
type File struct {
	aside aside
	path  string
	old   string // new name of the file at path; empty for none
	over  bool   // committed or closed

	patiently func(write func() error) error // tries to write until there is room; nil for a single try
}

// aside is the file while it has its temporary name: ".<base of target><digits>".
type aside interface {
	Write([]byte) (int, error)
	Seek(offset int64, whence int) (int64, error)
	Sync() error
	// replace syncs, closes and renames.
	replace() error
	// discard closes and removes a file that was not renamed.
	discard() error
}

// Create begins a file that Commit renames to path. A regular file that is already there keeps its
// permissions. Otherwise they are perm without the bits of the process's umask. A symbolic link is replaced,
// not followed.
func Create(path string, perm fs.FileMode) (*File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "replace", Path: path, Err: ErrNotRegular}
	}
	removeAbandoned(path)
	return create(path, perm)
}

// create is Create for a path that is missing or a regular file.
func create(path string, perm fs.FileMode) (*File, error) {
	a, err := createAside(path, perm)
	if err != nil {
		return nil, err
	}
	return &File{aside: a, path: path}, nil
}

// Patient makes Write wait for room when the disk is full, as Patiently does. It is for files that grow row by row and
// cannot be written again.
func (f *File) Patient(ctx context.Context, full func(error)) {
	f.patiently = func(write func() error) error { return Patiently(ctx, full, write) }
}

// Write appends at the current offset.
func (f *File) Write(p []byte) (int, error) {
	if f.patiently == nil {
		return f.aside.Write(p)
	}
	return writeRest(f.aside, p, f.patiently)
}

// writeRest writes at each try the bytes that the earlier tries did not write.
func writeRest(w io.Writer, p []byte, try func(write func() error) error) (n int, err error) {
	err = try(func() error {
		m, err := w.Write(p[n:])
		n += m
		return err
	})
	return n, err
}

// Seek sets the offset of the next Write, as io.Seeker defines it.
func (f *File) Seek(offset int64, whence int) (int64, error) { return f.aside.Seek(offset, whence) }

// KeepOld makes Commit rename the earlier file at the target to another name in the same folder, and replace
// the file of that name. At every moment there is a whole file at the target. If there is no earlier file,
// nothing is kept.
func (f *File) KeepOld(path string) { f.old = path }

// Commit syncs the file, renames it to its target, and syncs the folder. After an error the target is
// unchanged, unless only the folder could not be synced: then the new file is there, but a crash of the
// machine might remove it.
func (f *File) Commit() error {
	if f.over {
		return &fs.PathError{Op: "commit", Path: f.path, Err: fs.ErrClosed}
	}
	err := f.keepOld()
	if err == nil {
		err = f.aside.replace()
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	f.over = true
	return SyncFolder(filepath.Dir(f.path))
}

// keepOld renames the file at the target when the new file is on disk and only its own renaming remains.
func (f *File) keepOld() error {
	if f.old == "" {
		return nil
	}
	if err := f.aside.Sync(); err != nil {
		return err
	}
	if err := Link(f.path, f.old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Close removes a file that was not committed. After Commit, or called again, it does nothing.
func (f *File) Close() error {
	if f.over {
		return nil
	}
	f.over = true
	return f.aside.discard()
}

// WriteFile writes a whole file with the permissions of Create.
func WriteFile(path string, content []byte, perm fs.FileMode) error {
	f, err := Create(path, perm)
	if err != nil {
		return err
	}
	return f.writeAll(content)
}

// WriteNew is WriteFile for one of many files in a new folder. It does not look for files of a killed
// process, which takes longer than the writing.
func WriteNew(path string, content []byte, perm fs.FileMode) error {
	f, err := create(path, perm)
	if err != nil {
		return err
	}
	return f.writeAll(content)
}

func (f *File) writeAll(content []byte) (err error) {
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(content); err != nil {
		return err
	}
	return f.Commit()
}

// Target reports whether a name, without its folder, is the temporary name of a written or linked file, and
// its target. Use it only for targets whose names do not end in a digit.
func Target(name string) (base string, ok bool) {
	rest, hidden := strings.CutPrefix(name, ".")
	if !hidden {
		return "", false
	}
	if base, ok := strings.CutSuffix(rest, linkSuffix); ok {
		return base, base != ""
	}
	base = strings.TrimRight(rest, "0123456789")
	return base, base != "" && base != rest
}

func folderError(path string, err error) error {
	if err != nil {
		return fmt.Errorf("cannot sync the folder %q: %w", path, err)
	}
	return nil
}

// Writable returns why no file can be made in a folder, or, if the folder is not there, in the folder above it.
func Writable(folder string) error {
	for {
		file, err := os.CreateTemp(folder, ".nmn-*")
		if err == nil {
			return errors.Join(file.Close(), os.Remove(file.Name()))
		}
		above := filepath.Dir(folder)
		switch {
		case Full(err): // writers wait for room
			return nil
		case !errors.Is(err, fs.ErrNotExist) || above == folder:
			return fmt.Errorf("cannot write in %q: %w", folder, errors.Unwrap(err))
		}
		folder = above
	}
}
