package lock

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Terminals interpret control characters of two ranges. Letters next to them are unchanged.
func TestHolder_KeepsLettersAndNothingThatControls(t *testing.T) {
	for command, want := range map[string]string{
		"nmn train --images Ærø/été 字": "nmn train --images Ærø/été 字",
		"a\x00b\tc\x1fd":               "a?b?c?d",
		"a\x7fb\u0080c\u009bd":         "a?b?c?d",
		"a b~c\u00a0d":                 "a b~c\u00a0d",
		strings.Repeat("é", 160):       strings.Repeat("é", 160),
		strings.Repeat("é", 161):       strings.Repeat("é", 160) + "…",
	} {
		if got := (Holder{PID: 1, Host: "h", Command: command}).String(); !strings.Contains(got, "("+want+", since") {
			t.Errorf("%q is shown as %q", command, got)
		}
	}
	if got := (Holder{PID: 1, Host: "a\x1b[2Jb"}).String(); !strings.Contains(got, " on a?[2Jb (") {
		t.Errorf("the host is shown in %q", got)
	}
	if got := (Holder{}).String(); got != "another process" {
		t.Errorf("an unknown holder is %q", got)
	}
}

// The file of a process that was killed may hold more than the next one writes.
func TestTake_OverwritesAllThatAnotherHasWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	check(t, os.WriteFile(path, []byte(`{"pid":1,"command":"`+strings.Repeat("x", 1<<14)+"\"}\n"), 0o666))
	mine := taken(t, path)
	defer mine.Release()
	var held *HeldError
	if _, err := Take(path); !errors.As(err, &held) || held.Holder.PID != os.Getpid() {
		t.Errorf("error %v, want one that names this process", err)
	}
}

// A lock's file may hold anything.
func TestTake_HeldByWhoKnowsWhom(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	mine := taken(t, path)
	defer mine.Release()
	for _, content := range []string{"", `{"pid": 7, "host"`, `{"pid": 7, "host": 8}`} {
		check(t, errors.Join(mine.file.Truncate(0), writeAt(mine.file, content)))
		if _, err := Take(path); !errors.Is(err, ErrHeld) || !strings.Contains(err.Error(), "locked by another process") {
			t.Errorf("%q: error %v", content, err)
		}
	}
}

func writeAt(file *os.File, content string) error {
	_, err := file.WriteAt([]byte(content), 0)
	return err
}
