package folder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"nmn/internal/setting"
	"nmn/train"
)

// Kind is what a folder is for.
type Kind struct {
	Config string                 // the name of the configuration, by which a folder is known as ours
	Writes func(name string) bool // reports whether a run writes a file, or makes a folder, of a name there
}

// Found answers questions about the configuration that was found in a folder.
type Found struct {
	// Written reports whether a run has written the configuration. All runs, and only runs, note their build there.
	Written func() bool
	Changed func() (key, was, is string) // names the setting that this run has otherwise; an empty key is none
}

// Check refuses a folder that is not for this run. err is the error of reading the configuration there; it wraps
// fs.ErrNotExist if there is none. found is called only if the configuration was read. If no run has written a
// configuration, a file that this run would overwrite belongs to the user or another program. The folder of another run
// that has not begun can be taken: a mistake in its settings has ended it before anything was learned.
func Check(dir string, kind Kind, err error, found Found) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !found.Written():
		return refuseForeign(dir, kind)
	case err != nil:
		return err
	}
	if key, was, is := found.Changed(); key != "" && Begun(dir) {
		return setting.Errorf("run_dir", "%s holds another run: its %s is %s, this one's %s; name another `run_dir`, or "+
			"remove that folder, as nmn train and nmn caption train do with `restart`", dir, key, was, is)
	}
	return nil
}

// Begun reports whether a run in a folder, or in one below it, has learned something that is kept, or may be about to:
// there is a checkpoint, a result, or the lock of a process that works there.
func Begun(dir string) bool {
	begun := errors.New("begun")
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch name := filepath.Base(path); {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return begun // what cannot be read may be anything
		case train.IsCheckpoint(name), name == ResultFile,
			name == LockFile && filepath.Dir(path) != filepath.Clean(dir):
			return begun
		}
		return nil
	})
	return err != nil
}

// refuseForeign refuses a folder without a configuration of ours in which a run would overwrite something.
func refuseForeign(dir string, kind Kind) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if kind.Writes(e.Name()) {
			return setting.Errorf("run_dir", "%s would be overwritten, and no run has written it, since there is no %s next "+
				"to it: name another `run_dir`, or move it away", filepath.Join(dir, e.Name()), kind.Config)
		}
	}
	return nil
}

// Claim makes a folder for a run, or takes the one that Check has allowed. What a killed process left of our files is
// removed.
func Claim(dir string, ours func(name string) bool) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return train.RemoveLeftovers(dir, ours)
}

// Clear removes the files of a run in a folder, and the named folders below it. Unless a run has written the
// configuration there, which err and found report as for Check, nothing is removed. The configuration goes last: if the
// process is killed here, the folder is still known as one of a run.
func Clear(dir string, kind Kind, err error, found Found, below ...string) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !found.Written():
		return nil // Check refuses a folder of another program
	case err != nil:
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, name := range below {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	for _, e := range entries {
		if name := e.Name(); kind.Writes(name) && name != kind.Config {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	if err := os.Remove(filepath.Join(dir, kind.Config)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
