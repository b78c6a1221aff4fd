package durable

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const linkSuffix = ".link"

// Link gives the file from another name, to, and replaces an earlier file there. If the file system has no
// links, it makes a copy. Use it for files that are replaced and never changed, as in this package.
func Link(from, to string) error {
	aside := filepath.Join(filepath.Dir(to), "."+filepath.Base(to)+linkSuffix)
	if err := remove(aside); err != nil {
		return err
	}
	if err := os.Link(from, aside); err != nil {
		return copyFile(from, to)
	}
	if err := os.Rename(aside, to); err != nil {
		return errors.Join(err, os.Remove(aside))
	}
	// A rename between two names of one file leaves both.
	if err := remove(aside); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(to))
}

// remove removes a file that may be missing.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func copyFile(from, to string) (err error) {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	dst, err := Create(to, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	if _, err := io.Copy(dst, src); err != nil {
		return err
	}
	return dst.Commit()
}
