//go:build !windows

package durable

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"

	"nmn/internal/expect"
)

// Files of a killed process are removed when their target is written again. Files of a living process stay,
// and so does every file of another name.
func TestCreate_RemovesWhatKilledProcessesLeft(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "q.csv")
	alive, err := Create(path, 0o644)
	expect.OK(t, err)
	_, err = alive.Write([]byte("of the living"))
	expect.OK(t, err)
	others := []string{".q.csv", ".q.csv20261122", ".q.csv1234567890123456a", ".r.csv1234567890123456789",
		"q.csv1234567890123456789"}
	for _, name := range append(others, ".q.csv1234567890123456789", ".q.csv12345678901234567") {
		expect.OK(t, os.WriteFile(filepath.Join(folder, name), []byte("half"), 0o644))
	}
	expect.OK(t, os.Mkdir(filepath.Join(folder, ".q.csv2234567890123456789"), 0o755))
	expect.OK(t, WriteFile(path, []byte("new"), 0o644))
	wantContent(t, path, "new")
	expect.OK(t, alive.Commit())
	wantContent(t, path, "of the living")
	want := append(others, ".q.csv2234567890123456789", "q.csv")
	slices.Sort(want)
	wantNames(t, folder, want...)
}

// One in a thousand of the drawn names is too short to be recognised later.
func TestCreate_ByANameThatIsFoundAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q.csv")
	for range 5000 {
		aside, err := createAside(path, 0o644)
		expect.OK(t, err)
		if name := filepath.Base(aside.(pending).Name()); !isAside(name, path) {
			t.Errorf("%s would never be removed", name)
		}
		expect.OK(t, aside.discard())
	}
}

// Many processes write one file at once: no living one is taken for dead.
func TestWriteFile_ManyAtOnce(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "q.csv")
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			for range 20 {
				if err := WriteFile(path, []byte(strconv.Itoa(i)), 0o644); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	wantNames(t, folder, "q.csv")
}

// A file aside may be taken for abandoned before it is locked. Then it is not held, whichever file has its
// name now.
func TestHoldAside_OnlyWhatStillHasItsName(t *testing.T) {
	for name, c := range map[string]struct {
		before func(t *testing.T, file *os.File)
		held   bool
	}{
		"as it was made": {func(*testing.T, *os.File) {}, true},
		"removed":        {func(t *testing.T, file *os.File) { expect.OK(t, os.Remove(file.Name())) }, false},
		"another has its name": {func(t *testing.T, file *os.File) {
			expect.OK(t, os.Remove(file.Name()))
			expect.OK(t, os.WriteFile(file.Name(), nil, 0o644))
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
			expect.OK(t, err)
			defer file.Close()
			c.before(t, file)
			hold, held := holdAside(file)
			if held != c.held || (hold != nil) != held {
				t.Fatalf("held %v by %v, want %v", held, hold, c.held)
			}
			if held {
				expect.OK(t, hold.Close())
			}
		})
	}
}

// One of many files in a new folder: the folder is not listed for it.
func TestWriteNew_LooksForNoLeftovers(t *testing.T) {
	folder := t.TempDir()
	expect.OK(t, os.WriteFile(filepath.Join(folder, ".1.jpg1234567890123456789"), []byte("half"), 0o644))
	expect.OK(t, WriteNew(filepath.Join(folder, "1.jpg"), []byte("new"), 0o644))
	wantContent(t, filepath.Join(folder, "1.jpg"), "new")
	wantNames(t, folder, ".1.jpg1234567890123456789", "1.jpg")
}
