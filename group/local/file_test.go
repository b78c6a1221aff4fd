package local

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"nmn/group"
)

// filesOf calls group.File on n ranks, with a folder for each.
func filesOf(t *testing.T, n int, path string, folders func(rank int) string) (files []string, errs []error) {
	t.Helper()
	files, errs = make([]string, n), make([]error, n)
	var all sync.WaitGroup
	for rank, g := range New(n, time.Minute) {
		all.Go(func() { files[rank], errs[rank] = group.File(g, path, folders(rank)) })
	}
	all.Wait()
	return files, errs
}

func TestFile_IsThatOfTheFirstOnAllRanks(t *testing.T) {
	for _, size := range []int{0, 5, 16<<20 + 3} {
		want := make([]byte, size)
		for i := range want {
			want[i] = byte(i * i >> 5)
		}
		path := filepath.Join(t.TempDir(), "checkpoint")
		if err := os.WriteFile(path, want, 0o600); err != nil {
			t.Fatal(err)
		}
		files, errs := filesOf(t, 3, path, func(int) string { return t.TempDir() })
		for rank, file := range files {
			if errs[rank] != nil || (file == path) != (rank == 0) {
				t.Fatalf("rank %d: %q, %v", rank, file, errs[rank])
			}
			if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
				t.Errorf("rank %d has %d bytes, want %d: %v", rank, len(got), size, err)
			}
		}
	}
}

// Where the first rank has no such file, or another no room for it, all fail and no copy is left.
func TestFile_FailsOnAllRanksAndLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint")
	if err := os.WriteFile(path, []byte("numbers"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path, third string
	}{
		"no file":   {filepath.Join(t.TempDir(), "none"), t.TempDir()},
		"a folder":  {t.TempDir(), t.TempDir()},
		"no folder": {path, filepath.Join(t.TempDir(), "none")},
	} {
		second := t.TempDir()
		_, errs := filesOf(t, 3, c.path, func(rank int) string { return []string{"", second, c.third}[rank] })
		guilty := 0
		if name == "no folder" {
			guilty = 2
		}
		for rank, err := range errs {
			var lost *group.LostError
			if err == nil || errors.As(err, &lost) != (rank != guilty) || lost != nil && lost.Rank != guilty {
				t.Errorf("%s: rank %d: %v", name, rank, err)
			}
		}
		if name == "no file" && !errors.Is(errs[0], fs.ErrNotExist) {
			t.Errorf("%v", errs[0])
		}
		for _, folder := range []string{second, c.third} {
			if left, _ := os.ReadDir(folder); len(left) > 0 {
				t.Errorf("%s: %s is left", name, left[0].Name())
			}
		}
	}
}
