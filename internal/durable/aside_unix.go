//go:build !windows

package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

type pending struct {
	*renameio.PendingFile
	hold *os.File // keeps the lock on the file, until it has its name or is gone
}

func createAside(path string, perm fs.FileMode) (aside, error) {
	const most = 100 // tries, each lost to a process that took the new file for an abandoned one, or to a short name
	for try := 1; ; try++ {
		file, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)),
			renameio.WithPermissions(perm), renameio.WithExistingPermissions())
		if err != nil {
			return nil, err
		}
		hold, held := holdAside(file.File)
		if held && isAside(filepath.Base(file.Name()), path) || try == most {
			return pending{file, hold}, nil
		}
		if held {
			hold.Close()
		}
		_ = file.Cleanup() // the other process may have removed it
	}
}

// replace keeps the lock until the file has its name. After an error, discard releases it.
func (p pending) replace() error {
	if err := p.CloseAtomicallyReplace(); err != nil {
		return err
	}
	return p.release()
}

func (p pending) discard() error { return errors.Join(p.Cleanup(), p.release()) }

func (p pending) release() error {
	if p.hold == nil {
		return nil
	}
	return p.hold.Close()
}

// SyncFolder makes the names in a folder survive a crash of the machine.
func SyncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return folderError(path, err)
	}
	return folderError(path, errors.Join(d.Sync(), d.Close()))
}
