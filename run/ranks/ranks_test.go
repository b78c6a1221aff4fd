package ranks

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/group"
	"nmn/group/local/localtest"
	"nmn/internal/setting"
)

func TestAgree_TellsAllRanksWhatKindOfErrorItIs(t *testing.T) {
	broken := errors.New("the disk is broken")
	for name, cause := range map[string]error{"a mistake": setting.Errorf("run_dir", "wrong folder"), "a failure": broken} {
		localtest.Each(3, func(g group.Group) {
			var own error
			if g.Rank() == 1 {
				own = cause
			}
			err := Agree(g, own)
			var mistake *setting.Error
			if !Told(err) || errors.As(err, &mistake) != (cause != broken) || !strings.Contains(err.Error(), cause.Error()) {
				t.Errorf("%s, rank %d: %v", name, g.Rank(), err)
			}
			var lost *group.LostError
			if errors.As(err, &lost) != (g.Rank() != 1) {
				t.Errorf("%s, rank %d: %v names another rank: %t", name, g.Rank(), err, lost != nil)
			}
			if err := Agree(g, nil); err != nil {
				t.Errorf("rank %d, afterwards: %v", g.Rank(), err)
			}
		})
	}
	if err := Agree(group.Alone{}, broken); err != broken || Told(err) {
		t.Errorf("alone: %v", err)
	}
}

func TestCompare_NamesTheRankAndWhatDiffers(t *testing.T) {
	localtest.Each(3, func(g group.Group) {
		own := map[string]string{"version": "1", "training data": "abc"}
		if err := Compare(g, own); err != nil {
			t.Errorf("rank %d, all the same: %v", g.Rank(), err)
		}
		if g.Rank() == 2 {
			own["training data"] = "xyz"
		}
		err := Compare(g, own)
		var mistake *setting.Error
		want := "rank 2 (goroutine 2) differs from rank 0 (goroutine 0): its training data is xyz, that of rank 0 is abc"
		if !errors.As(err, &mistake) || !Told(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("rank %d: %v, want %s", g.Rank(), err, want)
		}
	})
}

func TestCompareList_NamesTheFirstEntryThatDiffers(t *testing.T) {
	list := make([]string, 2*partLength+100)
	for i := range list {
		list[i] = fmt.Sprintf("%04d.jpg of %d bytes", i, 100+i)
	}
	other, last := slices.Clone(list), len(list)-1
	other[partLength+6] = "a.jpg of 1 bytes"
	for name, c := range map[string]struct {
		theirs []string
		want   string
	}{
		"the same":         {slices.Clone(list), ""},
		"another":          {other, "its picture 1031 is a.jpg of 1 bytes, that of rank 0 is 1030.jpg of 1130 bytes"},
		"one less":         {list[:last], "its picture 2148 is not there, that of rank 0 is 2147.jpg of 2247 bytes"},
		"a part less":      {list[:partLength], "its picture 1025 is not there, that of rank 0 is 1024.jpg of 1124 bytes"},
		"one more":         {append(slices.Clone(list), "b.jpg"), "its picture 2149 is b.jpg, that of rank 0 is not there"},
		"none":             {nil, "its picture 1 is not there, that of rank 0 is 0000.jpg of 100 bytes"},
		"the first is new": {list[1:], "its picture 1 is 0001.jpg of 101 bytes, that of rank 0 is 0000.jpg of 100 bytes"},
	} {
		localtest.Each(3, func(g group.Group) {
			own := list
			if g.Rank() == 2 {
				own = c.theirs
			}
			err := CompareList(g, "picture", own)
			if c.want == "" {
				if err != nil {
					t.Errorf("%s, rank %d: %v", name, g.Rank(), err)
				}
				return
			}
			var mistake *setting.Error
			if !errors.As(err, &mistake) || !Told(err) || !strings.Contains(err.Error(), c.want) ||
				!strings.Contains(err.Error(), "rank 2 (goroutine 2) differs") {
				t.Errorf("%s, rank %d: %v, want %s", name, g.Rank(), err, c.want)
			}
		})
	}
}

// run is the kind of the folders of tests.
var run = Kind{
	File: func(name string) (bool, bool) {
		return name != "log.jsonl", strings.HasSuffix(name, ".safetensors")
	},
	Folder: func(name string) bool { return name != "tensorboard" },
	Stub: func(w io.Writer, path string) error {
		_, err := fmt.Fprintf(w, "stub of %s", filepath.Base(path))
		return err
	},
}

func TestFollow_GivesTheOtherRanksTheSmallFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "fd")
	large := strings.Repeat("0123456789", pieceBytes/4)
	for name, content := range map[string]string{
		"config.yaml": "a: 1\n", "large.csv": large, "log.jsonl": "{}", "last.safetensors": large,
		"stage1/last.safetensors": large, "stage1/empty": "", "tensorboard/events": "x",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{"config.yaml": "a: 1\n", "large.csv": large, "last.safetensors": "stub of last.safetensors",
		"stage1/last.safetensors": "stub of last.safetensors", "stage1/empty": ""}
	localtest.Each(3, func(g group.Group) {
		own, release, err := Follow(g, dir, run)
		if err != nil {
			t.Errorf("rank %d: %v", g.Rank(), err)
			return
		}
		if g.Rank() == 0 {
			if own != dir {
				t.Errorf("rank 0 works in %s, want %s", own, dir)
			}
			return
		}
		got := contents(t, own)
		if filepath.Base(own) != "fd" || len(got) != len(want) {
			t.Errorf("rank %d: %d files in %s", g.Rank(), len(got), own)
		}
		for name, content := range want {
			if got[name] != content {
				t.Errorf("rank %d: %s has %d bytes, want %d", g.Rank(), name, len(got[name]), len(content))
			}
		}
		if err := release(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Dir(own)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("rank %d: its folder is left: %v", g.Rank(), err)
		}
	})
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = string(content)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return all
}

func TestFollow_OfANewRunIsAnEmptyFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	localtest.Each(2, func(g group.Group) {
		own, release, err := Follow(g, dir, run)
		if err != nil {
			t.Errorf("rank %d: %v", g.Rank(), err)
			return
		}
		if g.Rank() > 0 && len(contents(t, own)) > 0 {
			t.Errorf("rank %d: %v", g.Rank(), contents(t, own))
		}
		if err := release(); err != nil {
			t.Error(err)
		}
	})
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of rank 0 was made: %v", err)
	}
}

func TestFollow_FailsOnAllRanksWhereOneHasNoRoom(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing")) // which rank 0 does not need
	localtest.Each(2, func(g group.Group) {
		_, _, err := Follow(g, dir, run)
		if !errors.Is(err, os.ErrNotExist) && g.Rank() > 0 || !Told(err) || !strings.Contains(err.Error(), "missing") {
			t.Errorf("rank %d: %v", g.Rank(), err)
		}
	})
}
