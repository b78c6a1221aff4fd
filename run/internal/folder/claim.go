package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"nmn/internal/durable"
	"nmn/internal/setting"
	"os"
	"path/filepath"
)

// Claim makes a folder for a run, or takes the one that it has. found is the error of reading the
// configuration there; where it was read, changed names the setting that this run has otherwise, which is refused.
// What a killed process left of our files is removed.
func Claim(dir string, found error, changed func() (key, was, is string), ours func(name string) bool) error {
	switch {
	case errors.Is(found, fs.ErrNotExist):
	case found != nil:
		return found
	default:
		if key, was, is := changed(); key != "" {
			return setting.Errorf("run_dir",
				"%s holds another run: its %s is %s, this one's %s; name another `run_dir`, or remove that folder", dir,
				key, was, is)
		}
	}
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
