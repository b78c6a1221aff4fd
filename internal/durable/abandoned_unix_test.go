//go:build !windows

package durable

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
)

// Files of a killed process are removed when their target is written again. Files of a living process stay,
// and so does every file of another name.
func TestCreate_RemovesWhatKilledProcessesLeft(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "q.csv")
	alive, err := Create(path, 0o644)
	check(t, err)
	_, err = alive.Write([]byte("of the living"))
	check(t, err)
	others := []string{".q.csv", ".q.csv20261122", ".q.csv1234567890123456a", ".r.csv1234567890123456789",
		"q.csv1234567890123456789"}
	for _, name := range append(others, ".q.csv1234567890123456789", ".q.csv12345678901234567") {
		check(t, os.WriteFile(filepath.Join(folder, name), []byte("half"), 0o644))
	}
	check(t, os.Mkdir(filepath.Join(folder, ".q.csv2234567890123456789"), 0o755))
	check(t, WriteFile(path, []byte("new"), 0o644))
	wantContent(t, path, "new")
	check(t, alive.Commit())
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
		check(t, err)
		if name := filepath.Base(aside.(pending).Name()); !isAside(name, path) {
			t.Errorf("%s would never be removed", name)
		}
		check(t, aside.discard())
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
