//go:build !windows

package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

type pending struct{ *renameio.PendingFile }

func createAside(path string, perm fs.FileMode) (aside, error) {
	file, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)),
		renameio.WithPermissions(perm), renameio.WithExistingPermissions())
	if err != nil {
		return nil, err
	}
	return pending{file}, nil
}

func (p pending) replace() error { return p.CloseAtomicallyReplace() }
func (p pending) discard() error { return p.Cleanup() }

// SyncFolder makes the names in a folder survive a crash of the machine.
func SyncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return folderError(path, err)
	}
	return folderError(path, errors.Join(d.Sync(), d.Close()))
}
