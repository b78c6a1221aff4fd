package durable

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// The last entry explains best why a run stopped. It waits however large it is, and earlier entries make
// room.
func TestJournal_KeepsTheLastEntryHoweverLarge(t *testing.T) {
	file := &crowdedFile{}
	j := &Journal{file: file, lost: func(int) []byte { return []byte("lost\n") }}
	large := strings.Repeat("x", mostWaiting) + "\n"
	put(t, j, "one\n", large)
	if err := j.Flush(); err == nil || !strings.HasPrefix(err.Error(), "2 entries") {
		t.Errorf("error %v, want one about 2 entries", err)
	}
	file.room = 2 * mostWaiting
	check(t, j.Close())
	if got := string(file.content); got != "lost\n"+large {
		t.Errorf("%d bytes begin with %.9q, want a line about the lost entry and the last of %d", len(got), got, len(large))
	}
}

// A pipe or a device cannot be cut. If nothing of an entry was written there is nothing to cut off, and the
// next entries must not wait for it.
func TestJournal_NothingIsCutOffWhereNothingWasWritten(t *testing.T) {
	file := &crowdedFile{stuck: true}
	j := &Journal{file: file}
	put(t, j, "one\n")
	file.room = 100
	put(t, j, "two\n")
	check(t, j.Close())
	if got := string(file.content); got != "one\ntwo\n" {
		t.Errorf("there is %q", got)
	}
}

// While a part of an entry cannot be cut off, nothing is written after it.
func TestJournal_WritesNothingBehindAPart(t *testing.T) {
	file := &crowdedFile{room: 6, stuck: true}
	j := &Journal{file: file}
	put(t, j, "one\n", "two\n")
	file.room = 100
	put(t, j, "three\n")
	if got := string(file.content); got != "one\ntw" {
		t.Errorf("there is %q", got)
	}
	if err := j.Flush(); err == nil || !strings.HasPrefix(err.Error(), "2 entries") {
		t.Errorf("error %v, want one about 2 entries", err)
	}
}

// Lost entries are reported once, when there is room for that line, and counted over the whole time without
// room.
func TestJournal_TellsOnceWhatWasLost(t *testing.T) {
	file := &crowdedFile{}
	var told []int
	j := &Journal{file: file, lost: func(n int) []byte { told = append(told, n); return []byte("lost\n") }}
	large := strings.Repeat("x", mostWaiting) + "\n"
	put(t, j, large, large, large)
	file.room = 8 * mostWaiting
	put(t, j, "a\n", "b\n")
	check(t, j.Close())
	if got, want := strings.Count(string(file.content), "lost\n"), 1; got != want || told[len(told)-1] != 3 {
		t.Errorf("reported %d times, %d lost entries; want once, 3", got, told)
	}
}

type unclosable struct{ crowdedFile }

func (*unclosable) Close() error { return os.ErrClosed }

func TestJournal_CloseReportsWhatTheFileSays(t *testing.T) {
	j := &Journal{file: &unclosable{crowdedFile{room: 9}}}
	put(t, j, "one\n")
	if err := j.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("error %v", err)
	}
}

// If no line replaces the lost entries, Close returns an error.
func TestJournal_CloseTellsWhatIsLostWhereNoLineDoes(t *testing.T) {
	file := &crowdedFile{}
	j := &Journal{file: file}
	entry := strings.Repeat("x", mostWaiting/2) + "\n"
	put(t, j, "one\n", entry, entry)
	file.room = 4 * mostWaiting
	if err := j.Close(); err == nil || !strings.Contains(err.Error(), "2 of the entries") {
		t.Errorf("error %v, want one about the 2 entries before the last", err)
	}
	if got := string(file.content); got != entry {
		t.Errorf("%d bytes were written, want the last entry", len(got))
	}
}
