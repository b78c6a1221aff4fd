package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"nmn/internal/durable"
	"nmn/internal/setting"
)

// Kind is what a folder is for.
type Kind struct {
	// Config is the name of the configuration, by which a folder is known as ours.
	Config string
	// Writes reports whether a run writes a file, or makes a folder, of a name there.
	Writes func(name string) bool
}

// Check refuses a folder that is not for this run. found is the error of reading the configuration there, one that
// wraps fs.ErrNotExist where there is none that a run has written: then a file that the run would overwrite is
// somebody's. Where it was read, changed names the setting that this run has otherwise.
func Check(dir string, found error, kind Kind, changed func() (key, was, is string)) error {
	switch {
	case errors.Is(found, fs.ErrNotExist):
		return refuseForeign(dir, kind)
	case found != nil:
		return found
	}
	if key, was, is := changed(); key != "" {
		return setting.Errorf("run_dir",
			"%s holds another run: its %s is %s, this one's %s; name another `run_dir`, or remove that folder", dir,
			key, was, is)
	}
	return nil
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
			return setting.Errorf("run_dir",
				"%s would be overwritten, and is not of a run, for no run has written a %s beside it: name another `run_dir`, or move it away",
				filepath.Join(dir, e.Name()), kind.Config)
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
	return RemoveLeftovers(dir, ours)
}

// RemoveLeftovers deletes what a killed process left of our files that it was writing aside; the trainers do
// so for their checkpoints.
func RemoveLeftovers(dir string, ours func(name string) bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		target, aside := durable.Target(e.Name())
		if !aside || !ours(target) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return fmt.Errorf("cannot remove an unfinished file: %w", err)
		}
	}
	return nil
}
