package durable

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"nmn/internal/expect"
)

func TestWriteFile_NewAndReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q.csv")
	for _, content := range []string{"first, and longer", "second", ""} {
		expect.OK(t, WriteFile(path, []byte(content), 0o644))
		wantContent(t, path, content)
	}
	wantNames(t, filepath.Dir(path), "q.csv")
}

func TestFile_NothingIsSeenBeforeCommit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "last")
	expect.OK(t, os.WriteFile(path, []byte("old"), 0o644))
	f, err := Create(path, 0o644)
	expect.OK(t, err)
	_, err = io.WriteString(f, "new content")
	expect.OK(t, err)
	if at, err := f.Seek(0, io.SeekCurrent); err != nil || at != 11 {
		t.Errorf("offset %d, %v", at, err)
	}
	_, err = f.Seek(4, io.SeekStart)
	expect.OK(t, err)
	_, err = io.WriteString(f, "CONTENT")
	expect.OK(t, err)
	wantContent(t, path, "old")
	expect.OK(t, f.Commit())
	wantContent(t, path, "new CONTENT")
	expect.OK(t, f.Close())
	wantContent(t, path, "new CONTENT")
	if err := f.Commit(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a second Commit: %v", err)
	}
	wantNames(t, filepath.Dir(path), "last")
}

func TestFile_LiesAsideInTheSameFolder(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	path := filepath.Join(t.TempDir(), "best.safetensors")
	f, err := Create(path, 0o644)
	expect.OK(t, err)
	names := list(t, filepath.Dir(path))
	if len(names) != 1 {
		t.Fatalf("files %q, want one", names)
	}
	if target, ok := Target(names[0]); !ok || target != "best.safetensors" {
		t.Errorf("%q is taken for a file aside of %q, %v", names[0], target, ok)
	}
	expect.OK(t, f.Close())
	expect.OK(t, f.Close())
	wantNames(t, filepath.Dir(path))
}

// An error while the content is written must leave the old file, and no other.
func TestFile_AbandonedMidway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "last")
	expect.OK(t, os.WriteFile(path, []byte("old"), 0o644))
	write := func() (err error) {
		f, err := Create(path, 0o644)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		content := io.MultiReader(bytes.NewReader(make([]byte, 1<<20)), broken{})
		if _, err := io.Copy(f, content); err != nil {
			return err
		}
		return f.Commit()
	}
	if err := write(); !errors.Is(err, errBroken) {
		t.Fatalf("error %v", err)
	}
	wantContent(t, path, "old")
	wantNames(t, filepath.Dir(path), "last")
}

// The rename fails, after everything was written.
func TestFile_TargetBecomesAFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "last")
	f, err := Create(path, 0o644)
	expect.OK(t, err)
	expect.OK(t, os.Mkdir(path, 0o777))
	if err := f.Commit(); err == nil {
		t.Error("a folder was replaced")
	}
	expect.OK(t, f.Close())
	wantNames(t, filepath.Dir(path), "last")
}

func TestFile_KeepsTheGenerationBefore(t *testing.T) {
	folder := t.TempDir()
	last, previous := filepath.Join(folder, "last"), filepath.Join(folder, "previous")
	write := func(content string) error {
		f, err := Create(last, 0o644)
		expect.OK(t, err)
		f.KeepOld(previous)
		_, err = io.WriteString(f, content)
		expect.OK(t, err)
		wantContent(t, last, content[:len(content)-1])
		return f.Commit()
	}
	expect.OK(t, WriteFile(last, []byte("a"), 0o644))
	expect.OK(t, write("ab"))
	expect.OK(t, write("abc"))
	wantContent(t, last, "abc")
	wantContent(t, previous, "ab")
	wantNames(t, folder, "last", "previous")
	expect.OK(t, os.Remove(previous))
	expect.OK(t, os.MkdirAll(filepath.Join(previous, "in the way"), 0o777))
	if err := write("abcd"); err == nil {
		t.Error("a folder was replaced")
	}
	wantContent(t, last, "abc")
	wantNames(t, folder, "last", "previous")
}

func TestFile_KeepsNothingWhereNothingWas(t *testing.T) {
	folder := t.TempDir()
	f, err := Create(filepath.Join(folder, "last"), 0o644)
	expect.OK(t, err)
	f.KeepOld(filepath.Join(folder, "previous"))
	expect.OK(t, f.Commit())
	wantNames(t, folder, "last")
}

func TestCreate_RefusesTargets(t *testing.T) {
	folder := t.TempDir()
	if err := WriteFile(folder, nil, 0o644); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a folder: %v", err)
	}
	if err := WriteFile(filepath.Join(folder, "none", "a"), nil, 0o644); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a folder that is not there: %v", err)
	}
	wantNames(t, folder)
}

func TestTarget_OtherNames(t *testing.T) {
	for name, want := range map[string]string{
		".best-30.safetensors9": "best-30.safetensors", ".best.safetensors.link": "best.safetensors", ".a12": "a",
		"a12": "", ".a": "", ".": "", "..": "", ".12": "", ".link": "", "": "", "best.safetensors": "",
	} {
		if base, ok := Target(name); ok != (want != "") || ok && base != want {
			t.Errorf("%q: %q, %v; want %q", name, base, ok, want)
		}
	}
}

func TestLink_ReplacesAndKeeps(t *testing.T) {
	folder := t.TempDir()
	last, best := filepath.Join(folder, "last"), filepath.Join(folder, "best")
	expect.OK(t, os.WriteFile(filepath.Join(folder, ".best.link"), []byte("of a killed process"), 0o644))
	for _, content := range []string{"one", "two", "two"} {
		expect.OK(t, WriteFile(last, []byte(content), 0o644))
		expect.OK(t, Link(last, best))
		expect.OK(t, Link(last, best))
		wantContent(t, best, content)
	}
	expect.OK(t, WriteFile(last, []byte("three"), 0o644))
	wantContent(t, best, "two")
	wantNames(t, folder, "best", "last")
	if err := Link(filepath.Join(folder, "none"), best); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of a file that is not there: %v", err)
	}
	wantContent(t, best, "two")
}

func TestCopyFile_WhereThereAreNoLinks(t *testing.T) {
	folder := t.TempDir()
	last, best := filepath.Join(folder, "last"), filepath.Join(folder, "best")
	expect.OK(t, WriteFile(last, []byte("one"), 0o644))
	expect.OK(t, copyFile(last, best))
	wantContent(t, best, "one")
	wantNames(t, folder, "best", "last")
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errBroken }

func wantContent(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v; want %q", filepath.Base(path), got, err, want)
	}
}

func list(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	expect.OK(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func wantNames(t *testing.T, folder string, want ...string) {
	t.Helper()
	if got := list(t, folder); !slices.Equal(got, want) {
		t.Errorf("the folder holds %q, want %q", got, want)
	}
}

// recorder replaces the file aside and records the calls in order.
type recorder struct {
	calls   []string
	failing string // the call that fails; empty for none
}

var errDisk = errors.New("the disk is full")

func (r *recorder) call(name string) error {
	r.calls = append(r.calls, name)
	if name == r.failing {
		return errDisk
	}
	return nil
}

func (r *recorder) Write(p []byte) (int, error)    { return len(p), r.call("write") }
func (r *recorder) Seek(int64, int) (int64, error) { return 0, r.call("seek") }
func (r *recorder) replace() error                 { return r.call("replace") }
func (r *recorder) discard() error                 { return r.call("discard") }
func (r *recorder) Sync() error                    { return r.call("sync") }

// A renamed file must not be removed, and a file that could not be renamed must be removed, once.
func TestFile_IsReplacedOrDiscardedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		commit  bool
		failing string
		want    []string
	}{
		"committed":                   {true, "", []string{"replace"}},
		"the file cannot be replaced": {true, "replace", []string{"replace", "discard"}},
		"closed alone":                {false, "", []string{"discard"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &recorder{failing: c.failing}
			f := &File{aside: r, path: filepath.Join(t.TempDir(), "last")}
			if c.commit {
				if err := f.Commit(); (err != nil) != (c.failing != "") || err != nil && !errors.Is(err, errDisk) {
					t.Errorf("Commit: %v", err)
				}
			}
			expect.OK(t, f.Close())
			expect.OK(t, f.Close())
			if err := f.Commit(); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("Commit at the end: %v", err)
			}
			if !slices.Equal(r.calls, c.want) {
				t.Errorf("calls %q, want %q", r.calls, c.want)
			}
		})
	}
}
