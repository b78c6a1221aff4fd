package train

import (
	"fmt"
	"os"
	"path/filepath"

	"nmn/internal/durable"
)

// PrepareDirectory makes a folder for checkpoints, or removes what a killed process left there unfinished.
func PrepareDirectory(path string) error {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return fmt.Errorf("training: cannot make the folder of checkpoints: %w", err)
	}
	return removeLeftovers(path)
}

// IsCheckpoint reports whether a name is one of those of checkpoints in a folder.
func IsCheckpoint(name string) bool {
	return name == LastName || name == PreviousName || name == BestName || bestFile.MatchString(name)
}

// removeLeftovers deletes what a killed process left of files it was writing.
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
