package ranks

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"nmn/internal/durable"
	"nmn/internal/lock"
)

func TestRoom_TakesAwayWhatKilledProcessesLeft(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	long := time.Now().Add(-time.Hour)
	left := func(name string, files ...string) string {
		dir := filepath.Join(os.Getenv("TMPDIR"), name)
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if err := os.WriteFile(filepath.Join(dir, f), nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(dir, long, long); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	dead, foreign := left("nmn-rank1-1", roomLock, "x"), left("nmn-rank1-2", "x")
	lives := left("nmn-rank1-3", roomLock)
	held, err := lock.Take(filepath.Join(lives, roomLock))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	if err := os.Chtimes(lives, long, long); err != nil {
		t.Fatal(err)
	}
	dir, release, err := Room(2)
	if err != nil {
		t.Fatal(err)
	}
	for path, stays := range map[string]bool{dead: false, foreign: true, lives: true, dir: true} {
		if durable.Exists(path) != stays {
			t.Errorf("%s: there is %t, want %t", path, !stays, stays)
		}
	}
	if err := release(); err != nil || durable.Exists(dir) {
		t.Errorf("it stays: %v", err)
	}
}
