package durable

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestSaveJSON_ReadsBack(t *testing.T) {
	type state struct{ Epoch int }
	path := filepath.Join(t.TempDir(), "state.json")
	if got, err := LoadJSON[state](path, "remove it"); got != nil || err != nil || Exists(path) {
		t.Errorf("without a file: %v, %v; with one: %v", got, err, Exists(path))
	}
	check(t, SaveJSON(path, state{3}))
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
	check(t, os.WriteFile(path, []byte(`{"Epoch": `), 0o644))
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
		check(t, WriteFile(last, []byte("old"), 0o644))
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
