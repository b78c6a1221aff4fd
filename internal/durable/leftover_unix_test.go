//go:build !windows

package durable

import (
	"os"
	"path/filepath"
	"testing"
)

// A file aside may be taken for abandoned before it is locked. Then it is not held, whichever file has its
// name now.
func TestHoldAside_OnlyWhatStillHasItsName(t *testing.T) {
	for name, c := range map[string]struct {
		before func(t *testing.T, file *os.File)
		held   bool
	}{
		"as it was made": {func(*testing.T, *os.File) {}, true},
		"removed":        {func(t *testing.T, file *os.File) { check(t, os.Remove(file.Name())) }, false},
		"another has its name": {func(t *testing.T, file *os.File) {
			check(t, os.Remove(file.Name()))
			check(t, os.WriteFile(file.Name(), nil, 0o644))
		}, false},
		"locked by another": {func(t *testing.T, file *os.File) {
			other, held := holdAside(file)
			if !held {
				t.Fatal("the first was not held")
			}
			t.Cleanup(func() { other.Close() })
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			file, err := os.CreateTemp(t.TempDir(), "aside")
			check(t, err)
			defer file.Close()
			c.before(t, file)
			hold, held := holdAside(file)
			if held != c.held || (hold != nil) != held {
				t.Fatalf("held %v by %v, want %v", held, hold, c.held)
			}
			if held {
				check(t, hold.Close())
			}
		})
	}
}

// One of many files in a new folder: the folder is not listed for it.
func TestWriteNew_LooksForNoLeftovers(t *testing.T) {
	folder := t.TempDir()
	check(t, os.WriteFile(filepath.Join(folder, ".1.jpg1234567890123456789"), []byte("half"), 0o644))
	check(t, WriteNew(filepath.Join(folder, "1.jpg"), []byte("new"), 0o644))
	wantContent(t, filepath.Join(folder, "1.jpg"), "new")
	wantNames(t, folder, ".1.jpg1234567890123456789", "1.jpg")
}
