//go:build unix

package loader

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"nmn/internal/expect"
	"nmn/loader/picture"
)

// Opening a named pipe waits for a writer: it must be refused before.
func TestFileSource_NamedPipeDoesNotHang(t *testing.T) {
	root := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(root, "pipe.jpg"), 0o600); err != nil {
		t.Skipf("cannot make a named pipe here: %v", err)
	}
	source := newTestSource(t, root, "pipe.jpg")
	if err := source.Read(context.Background(), 0, 0, new(picture.Picture)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("%v, want ErrCorrupt", err)
	}
}

func TestFileSource_NoPermission(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the superuser may read everything")
	}
	root := t.TempDir()
	expect.OK(t, os.WriteFile(filepath.Join(root, "a.jpg"), greyJPEG(t, 8, 8, 9), 0o000))
	err := newTestSource(t, root, "a.jpg").Read(context.Background(), 0, 0, new(picture.Picture))
	if !errors.Is(err, ErrCorrupt) || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v, want ErrCorrupt and its cause", err)
	}
}
