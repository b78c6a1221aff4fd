package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

type pending struct {
	*os.File
	path   string
	closed bool
}

// createAside does not look at perm: new files take the access rights of their folder.
func createAside(path string, _ fs.FileMode) (aside, error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"*")
	if err != nil {
		return nil, err
	}
	return &pending{File: file, path: path}, nil
}

func (p *pending) replace() error {
	if err := p.Sync(); err != nil {
		return err
	}
	p.closed = true // before the rename: an open file cannot be renamed
	if err := p.Close(); err != nil {
		return err
	}
	return os.Rename(p.Name(), p.path)
}

func (p *pending) discard() error {
	var closing error
	if !p.closed {
		closing = p.Close()
	}
	return errors.Join(closing, os.Remove(p.Name()))
}

// SyncFolder does nothing: folders cannot be synced here, and the file system keeps a journal of
// their names.
func SyncFolder(string) error { return nil }

// removeAbandoned removes nothing: files aside hold no lock here that would show whose process was killed.
func removeAbandoned(string) {}
