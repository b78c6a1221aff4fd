package durable

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nmn/internal/expect"
)

// The proc file system can open its folders, and has nothing to sync them with.
func TestSyncFolder_ReportsWhatTheFileSystemSays(t *testing.T) {
	expect.OK(t, SyncFolder(t.TempDir()))
	if err := SyncFolder("/proc"); !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), `"/proc"`) {
		t.Errorf("error %v, want EINVAL for the folder", err)
	}
	if err := SyncFolder(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// withoutNewFiles calls f while no file can be opened. Renaming needs none, syncing the folder does.
func withoutNewFiles(t *testing.T, f func()) {
	t.Helper()
	var limit syscall.Rlimit
	expect.OK(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	expect.OK(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 0, Max: limit.Max}))
	defer func() { expect.OK(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)) }()
	f()
}

// A new name is durable only after its folder is synced, which comes last. If that fails, the name is there.
func TestCommitAndLink_SyncTheFolderAfterTheRename(t *testing.T) {
	folder := t.TempDir()
	last, best := filepath.Join(folder, "last"), filepath.Join(folder, "best")
	file, err := Create(last, 0o644)
	expect.OK(t, err)
	_, err = file.Write([]byte("weights"))
	expect.OK(t, err)
	var committing, linking error
	withoutNewFiles(t, func() {
		committing = file.Commit()
		linking = Link(last, best)
	})
	for name, err := range map[string]error{"Commit": committing, "Link": linking} {
		if !errors.Is(err, syscall.EMFILE) || !strings.Contains(err.Error(), `cannot sync the folder "`+folder+`"`) {
			t.Errorf("%s: error %v, want that the folder cannot be synced", name, err)
		}
	}
	expect.OK(t, file.Close())
	wantContent(t, last, "weights")
	wantContent(t, best, "weights")
	wantNames(t, folder, "best", "last")
}
