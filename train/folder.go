package train

import (
	"fmt"
	"os"
	"path/filepath"

	"nmn/internal/durable"
)

// PrepareDirectory creates a folder for checkpoints, and removes unfinished files of a killed process from
// it.
func PrepareDirectory(path string) error {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return fmt.Errorf("training: cannot make the folder of checkpoints: %w", err)
	}
	if err := RemoveLeftovers(path, IsCheckpoint); err != nil {
		return fmt.Errorf("training: %w", err)
	}
	return nil
}

// IsCheckpoint reports whether a file name is the name of a checkpoint.
func IsCheckpoint(name string) bool {
	return name == LastName || name == PreviousName || name == BestName
}

// RemoveLeftovers deletes what a killed process left of our files in a folder that it was writing aside.
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
