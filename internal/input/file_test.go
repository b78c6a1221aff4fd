package input_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/input"
)

func TestOpen_ReadsUntilTheContextEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	expect.OK(t, os.WriteFile(path, []byte("abcd"), 0o600))
	ctx, cancel := context.WithCancel(context.Background())
	f, err := input.Open(ctx, path)
	expect.OK(t, err)
	defer f.Close()
	var two [2]byte
	if n, err := f.Read(two[:]); n != 2 || err != nil || f.Size() != 4 {
		t.Fatalf("%d bytes of %d, %v", n, f.Size(), err)
	}
	cancel()
	if n, err := io.ReadFull(f, two[:]); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d bytes, %v", n, err)
	}
	if n, err := f.ReadAt(two[:], 2); n != 2 || err != nil || string(two[:]) != "cd" {
		t.Errorf("ReadAt: %q, %v", two[:n], err)
	}
	if _, err := input.Open(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("opened after the context has ended: %v", err)
	}
}

func TestOpen_TakesFilesAlone(t *testing.T) {
	folder := t.TempDir()
	for _, open := range []func(context.Context, string) (*input.File, error){input.Open, input.OpenStream} {
		if _, err := open(context.Background(), folder); !errors.Is(err, input.ErrNoFile) {
			t.Errorf("a folder: %v", err)
		}
		if _, err := open(context.Background(), filepath.Join(folder, "none")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a missing file: %v", err)
		}
	}
}
