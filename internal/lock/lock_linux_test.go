package lock

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"nmn/internal/expect"
)

// A lock that is taken and cannot be checked is given back, with its file.
func TestTake_LeavesNoFileWhenItFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var before unix.Rlimit
	expect.OK(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &before))
	defer func() {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
			t.Error(err)
		}
	}()
	l, err := takeBy(path, func(file *os.File) error {
		next, err := os.Open(path)
		if err != nil {
			return err
		}
		limit := before
		limit.Cur = uint64(next.Fd()) // no further file can be opened
		return errors.Join(next.Close(), unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
	}, os.OpenFile)
	if l != nil || !errors.Is(err, unix.EMFILE) {
		t.Errorf("%v, %v, want too many open files", l, err)
	}
	if there(path) {
		t.Error("the file of the lock is left")
	}
}
