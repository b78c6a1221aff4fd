//go:build unix

package loader

import (
	"context"
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

// Opening a named pipe waits for a writer: it must be refused before.
func TestFileSource_NamedPipeDoesNotHang(t *testing.T) {
	root := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(root, "pipe.jpg"), 0o600); err != nil {
		t.Skipf("cannot make a named pipe here: %v", err)
	}
	source := newTestSource(t, root, "pipe.jpg")
	if err := source.Read(context.Background(), 0, 0, new(Picture)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("%v, want ErrCorrupt", err)
	}
}
