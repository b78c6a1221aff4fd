//go:build unix

package lock

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"nmn/internal/expect"
)

// Removing the file of a lock lets another process take it. The holder learns of it when it releases at the
// latest.
func TestRelease_ReportsAFileThatIsGone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	mine := taken(t, path)
	expect.OK(t, os.Remove(path))
	if err := mine.Release(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestTake_WithoutItsFolder(t *testing.T) {
	if l, err := Take(filepath.Join(t.TempDir(), "none", "lock")); l != nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, %v", l, err)
	}
}
