package durable

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nmn/internal/expect"
)

// crowdedFile is a file on a disk with room for a limited number of bytes. If it is stuck, nothing can be cut
// off.
type crowdedFile struct {
	content []byte
	room    int
	stuck   bool
}

func (c *crowdedFile) Write(b []byte) (int, error) {
	n := min(len(b), c.room)
	c.content, c.room = append(c.content, b[:n]...), c.room-n
	if n < len(b) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

func (c *crowdedFile) Truncate(size int64) error {
	if c.stuck {
		return syscall.EIO
	}
	c.room += len(c.content) - int(size)
	c.content = c.content[:size]
	return nil
}

func (*crowdedFile) Close() error { return nil }

func put(t *testing.T, j *Journal, entries ...string) {
	t.Helper()
	for _, e := range entries {
		if n, err := j.Write([]byte(e)); n != len(e) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
}

func TestJournal_EntriesWaitForRoomAndNoneIsTorn(t *testing.T) {
	file := &crowdedFile{room: 8}
	j := &Journal{file: file}
	put(t, j, "one\n", "two\n", "three\n", "4\n")
	if got := string(file.content); got != "one\ntwo\n" {
		t.Errorf("on the full disk there is %q", got)
	}
	file.room = 3 // for a part of the next entry
	if err := j.Flush(); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "2 entries") {
		t.Errorf("error %v", err)
	}
	if got := string(file.content); got != "one\ntwo\n" {
		t.Errorf("with a little room there is %q", got)
	}
	file.room = 100
	put(t, j, "five\n")
	expect.OK(t, j.Close())
	if got := string(file.content); got != "one\ntwo\nthree\n4\nfive\n" {
		t.Errorf("in the end there is %q", got)
	}
}

func TestJournal_PartOfAnEntryIsCutOffLater(t *testing.T) {
	file := &crowdedFile{room: 6, stuck: true}
	j := &Journal{file: file}
	put(t, j, "one\n", "two\n", "three\n")
	file.room, file.stuck = 100, false
	put(t, j, "four\n")
	expect.OK(t, j.Close())
	if got := string(file.content); got != "one\ntwo\nthree\nfour\n" {
		t.Errorf("there is %q", got)
	}
}

func TestJournal_DropsTheOldestBeyondItsMemoryAndSaysSo(t *testing.T) {
	file := &crowdedFile{}
	j := &Journal{file: file, lost: func(n int) []byte { return fmt.Appendf(nil, "%d lost\n", n) }}
	entry := strings.Repeat("x", mostWaiting/4-1) + "\n"
	put(t, j, entry, entry, entry, entry, "5\n", "6\n")
	if err := j.Flush(); err == nil || j.bytes > mostWaiting {
		t.Errorf("%d bytes wait, %v", j.bytes, err)
	}
	file.room = 2 * mostWaiting
	expect.OK(t, j.Close())
	if got := string(file.content); got != "1 lost\n"+entry+entry+entry+"5\n6\n" {
		t.Errorf("%d bytes: %.20q ... %q", len(got), got, got[max(len(got)-20, 0):])
	}
}

func TestJournal_CloseTellsWhatIsMissing(t *testing.T) {
	j := &Journal{file: &crowdedFile{room: 2}}
	put(t, j, "one\n", "two\n")
	if err := j.Close(); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "2 entries") || !Full(err) {
		t.Errorf("error %v", err)
	}
}

func TestOpenJournal_Appends(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for _, entry := range []string{"one\n", "two\n"} {
		j, err := OpenJournal(path, 0, nil)
		expect.OK(t, err)
		put(t, j, entry)
		expect.OK(t, j.Close())
	}
	wantContent(t, path, "one\ntwo\n")
	if _, err := OpenJournal(path, os.O_EXCL, nil); !errors.Is(err, os.ErrExist) {
		t.Errorf("a file that must not be there: %v", err)
	}
}

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
	expect.OK(t, j.Close())
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
	expect.OK(t, j.Close())
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
	expect.OK(t, j.Close())
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
