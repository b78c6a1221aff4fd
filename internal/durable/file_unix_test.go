//go:build unix

package durable

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"nmn/internal/expect"
)

func TestCreate_Permissions(t *testing.T) {
	folder := t.TempDir()
	plain := filepath.Join(folder, "plain")
	expect.OK(t, os.WriteFile(plain, nil, 0o664)) // reduced by the process's umask
	fresh, kept := filepath.Join(folder, "fresh"), filepath.Join(folder, "kept")
	expect.OK(t, WriteFile(fresh, nil, 0o664))
	if got, want := mode(t, fresh), mode(t, plain); got != want {
		t.Errorf("a new file has %v, want %v", got, want)
	}
	expect.OK(t, os.WriteFile(kept, nil, 0o600))
	expect.OK(t, WriteFile(kept, nil, 0o644))
	if got := mode(t, kept); got != 0o600 {
		t.Errorf("a file that was there has %v, want its own 0600", got)
	}
}

func TestCreate_ReplacesALinkNotItsTarget(t *testing.T) {
	folder := t.TempDir()
	real, link := filepath.Join(folder, "real"), filepath.Join(folder, "link")
	expect.OK(t, os.WriteFile(real, []byte("real"), 0o644))
	expect.OK(t, os.Symlink(real, link))
	expect.OK(t, WriteFile(link, []byte("new"), 0o644))
	wantContent(t, link, "new")
	wantContent(t, real, "real")
}

// A pipe stands for everything that is neither a file nor a folder. If the check is broken, no device of the
// machine is lost.
func TestCreate_RefusesAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	expect.OK(t, syscall.Mkfifo(path, 0o600))
	if err := WriteFile(path, nil, 0o644); !errors.Is(err, ErrNotRegular) {
		t.Errorf("error %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Type() != os.ModeNamedPipe {
		t.Errorf("there is %v now, %v", info, err)
	}
}

func TestWriteFile_FolderWithoutPermission(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("permissions do not hold for root")
	}
	folder := t.TempDir()
	path := filepath.Join(folder, "a")
	expect.OK(t, os.WriteFile(path, []byte("old"), 0o644))
	expect.OK(t, os.Chmod(folder, 0o500))
	defer os.Chmod(folder, 0o700)
	if err := WriteFile(path, nil, 0o644); !os.IsPermission(err) {
		t.Errorf("error %v", err)
	}
	wantContent(t, path, "old")
}

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	expect.OK(t, err)
	return info.Mode().Perm()
}
