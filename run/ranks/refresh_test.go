package ranks

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"nmn/group"
	"nmn/group/local/localtest"
)

// What another process has written into the folder of rank 0 since, and what it has removed, the others see too.
func TestRefresh_ShowsTheOtherRanksWhatIsThereNow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "fd")
	put := func(name, content string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Error(err)
		}
	}
	put("config.yaml", "a: 1\n")
	put("stage1/old", "x")
	localtest.Each(3, func(g group.Group) {
		own, release, err := Follow(g, dir, run)
		if err != nil {
			t.Errorf("rank %d: %v", g.Rank(), err)
			return
		}
		lock := filepath.Join(own, "run.lock")
		if g.Rank() == 0 {
			put("result.json", "{}")
			if err := os.RemoveAll(filepath.Join(dir, "stage1")); err != nil {
				t.Error(err)
			}
		} else if err := os.WriteFile(lock, []byte("mine"), 0o666); err != nil {
			t.Error(err)
		}
		for _, folder := range []string{own, filepath.Join(own, "arm", "of", "nobody")} {
			if err := Refresh(g, folder, "run.lock", run); err != nil {
				t.Errorf("rank %d, %s: %v", g.Rank(), folder, err)
			}
		}
		want := map[string]string{"config.yaml": "a: 1\n", "result.json": "{}"}
		if g.Rank() > 0 {
			want["run.lock"] = "mine"
		}
		if got := contents(t, own); !maps.Equal(got, want) {
			t.Errorf("rank %d has %v, want %v", g.Rank(), got, want)
		}
		if err := release(); err != nil {
			t.Error(err)
		}
	})
}
