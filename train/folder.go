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
	return removeLeftovers(path)
}

// IsCheckpoint reports whether a file name is the name of a checkpoint.
func IsCheckpoint(name string) bool {
	return name == LastName || name == PreviousName || name == BestName
}

// removeLeftovers deletes unfinished files of a killed process.
func removeLeftovers(directory string) error {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return fmt.Errorf("training: cannot list the folder of checkpoints: %w", err)
	}
	for _, e := range entries {
		target, aside := durable.Target(e.Name())
		if !aside || !IsCheckpoint(target) {
			continue
		}
		if err := os.Remove(filepath.Join(directory, e.Name())); err != nil {
			return fmt.Errorf("training: cannot remove an unfinished file: %w", err)
		}
	}
	return nil
}
