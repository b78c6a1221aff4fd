package durable

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
)

func TestSaveJSON_ReadsBack(t *testing.T) {
	type state struct{ Epoch int }
	path := filepath.Join(t.TempDir(), "state.json")
	if got, err := LoadJSON[state](path, "remove it"); got != nil || err != nil || Exists(path) {
		t.Errorf("without a file: %v, %v; with one: %v", got, err, Exists(path))
	}
	expect.OK(t, SaveJSON(path, state{3}))
	wantContent(t, path, "{\n \"Epoch\": 3\n}\n")
	if got, err := LoadJSON[state](path, "remove it"); err != nil || got == nil || got.Epoch != 3 || !Exists(path) {
		t.Errorf("%v, %v; there is one: %v", got, err, Exists(path))
	}
	if err := SaveJSON(path, math.NaN()); err == nil || !strings.HasPrefix(err.Error(), path+": ") {
		t.Errorf("a number that JSON does not have: %v", err)
	}
	wantContent(t, path, "{\n \"Epoch\": 3\n}\n")
}

func TestLoadJSON_NamesTheFileAndTheCure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	expect.OK(t, os.WriteFile(path, []byte(`{"Epoch": `), 0o644))
	got, err := LoadJSON[map[string]int](path, "remove it")
	if got != nil || err == nil || !strings.HasPrefix(err.Error(), path+": ") ||
		!strings.HasSuffix(err.Error(), "; remove it") {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := LoadJSON[int](filepath.Dir(path), "remove it"); got != nil || err == nil {
		t.Errorf("a folder: %v, %v", got, err)
	}
}

func TestSave_NamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "a")
	if err := Save(path, nil); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "cannot write "+path) {
		t.Errorf("error %v", err)
	}
}

// The old file gets its other name only when the new one is on disk: between the two a crash loses neither.
func TestFile_SyncsBeforeTheOldOneIsKept(t *testing.T) {
	for failing, want := range map[string][]string{"": {"sync", "replace"}, "sync": {"sync", "discard"}} {
		folder := t.TempDir()
		last, previous := filepath.Join(folder, "last"), filepath.Join(folder, "previous")
		expect.OK(t, WriteFile(last, []byte("old"), 0o644))
		r := &recorder{failing: failing}
		f := &File{aside: r, path: last}
		f.KeepOld(previous)
		if err := f.Commit(); (err != nil) != (failing != "") {
			t.Errorf("failing %q: %v", failing, err)
		}
		if !slices.Equal(r.calls, want) || Exists(previous) != (failing == "") {
			t.Errorf("failing %q: calls %q, want %q; the old one is kept: %v", failing, r.calls, want, Exists(previous))
		}
	}
}

// unwritable is content that cannot be written.
type unwritable struct{ err error }

func (u unwritable) WriteTo(io.Writer) (int64, error) { return 0, u.err }

func TestSaveFrom_WritesTheWholeOrNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "words.txt")
	expect.OK(t, SaveFrom(path, "the words", bytes.NewBufferString("a\nb\n")))
	broken := errors.New("word 3 is empty")
	if err := SaveFrom(path, "the words", unwritable{broken}); err != broken {
		t.Errorf("error %v, want the content's", err)
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != "a\nb\n" {
		t.Errorf("%q (%v)", content, err)
	}
	err := SaveFrom(filepath.Join(path, "below"), "the words", new(bytes.Buffer))
	if err == nil || !strings.HasPrefix(err.Error(), `cannot write the words "`) {
		t.Errorf("error %v", err)
	}
}

func TestStream_AppearsWholeOrNotAtAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	long := strings.Repeat("a row\n", 50_000)
	expect.OK(t, Stream(path, 0o644, func(w io.Writer) error {
		_, err := io.WriteString(w, long)
		return err
	}))
	wantContent(t, path, long)
	broken := errors.New("no more rows")
	err := Stream(path, 0o644, func(w io.Writer) error {
		_, _ = io.WriteString(w, long+long)
		return broken
	})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "rows.csv") {
		t.Errorf("%v, want one that names the file", err)
	}
	wantContent(t, path, long)
	wantNames(t, filepath.Dir(path), "rows.csv")
	if err := Stream(filepath.Join(path, "below"), 0o644, func(io.Writer) error { return nil }); err == nil ||
		!strings.Contains(err.Error(), "below") {
		t.Errorf("below a file: %v", err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}
