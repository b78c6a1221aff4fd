package shm

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/group"
)

// What the machine has no memory for is refused before any is taken.
func TestShare_RefusesWhatDoesNotFit(t *testing.T) {
	onRanks(t, 2, func(g group.Group) error {
		_, err := Share(g, min(1<<45, math.MaxInt))
		return notShared(err, "memory")
	})
}

// A path that leads elsewhere, as in another container, is found out.
func TestOpenFile_RefusesAnotherFile(t *testing.T) {
	f, err := newFile(4096, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, make([]byte, 4096+tokenBytes), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, reason := range map[string]string{other: "another file", other + ".missing": "no such file"} {
		named := fmt.Append(f.name()[:tokenBytes:tokenBytes], path)
		if _, err := newFile(4096, named); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := newFile(8192, f.name()); err == nil {
		t.Error("a file that is too short is opened")
	}
	if _, err := newFile(4096, []byte("short")); err == nil {
		t.Error("a file without a name is opened")
	}
}

// The whole pages of what a rank forgets are empty, and what is behind them and of other ranks is as it was.
func TestShare_ForgetsPages(t *testing.T) {
	onRanks(t, 2, func(g group.Group) error {
		m, err := Share(g, 5000)
		if err != nil {
			return err
		}
		own := m.Ranks[g.Rank()]
		for i := range own {
			own[i] = 1
		}
		if _, err := g.Gather(nil); err != nil {
			return err
		}
		page := pageSize / 4
		if g.Rank() == 1 {
			if err := m.Forget(2*page + 1); err != nil {
				return err
			}
		}
		if _, err := g.Gather(nil); err != nil {
			return err
		}
		if m.Ranks[1][0] != 0 || m.Ranks[1][2*page-1] != 0 || m.Ranks[1][2*page] != 1 || m.Ranks[0][0] != 1 {
			return fmt.Errorf("%v %v %v %v", m.Ranks[1][0], m.Ranks[1][2*page-1], m.Ranks[1][2*page], m.Ranks[0][0])
		}
		if _, err := g.Gather(nil); err != nil { // all have looked
			return err
		}
		return m.Close()
	})
}

// Nothing is left open or mapped.
func TestShare_LeavesNothingBehind(t *testing.T) {
	count := func() (files, maps int) {
		open, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		text, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Skip(err)
		}
		return len(open), strings.Count(string(text), "memfd:nmn")
	}
	files, maps := count()
	onRanks(t, 3, func(g group.Group) error {
		m, err := Share(g, 1<<20)
		if err != nil {
			return err
		}
		return m.Close()
	})
	if f, m := count(); f > files || m > maps {
		t.Errorf("%d files and %d maps, before %d and %d", f, m, files, maps)
	}
}
