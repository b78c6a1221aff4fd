//go:build unix

package input_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nmn/internal/input"
)

func makePipe(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	check(t, syscall.Mkfifo(path, 0o600))
	return path
}

// Opening a pipe without a writer would wait for ever.
func TestOpen_RefusesPipesAndDevices(t *testing.T) {
	for _, path := range []string{makePipe(t), os.DevNull} {
		if _, err := input.Open(context.Background(), path); !errors.Is(err, input.ErrNoFile) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := input.OpenStream(context.Background(), os.DevNull); !errors.Is(err, input.ErrNoFile) {
		t.Errorf("a device as a stream: %v", err)
	}
}

func TestOpenStream_ReadsPipes(t *testing.T) {
	path := makePipe(t)
	f, err := input.OpenStream(context.Background(), path) // does not wait for a writer
	check(t, err)
	defer f.Close()
	writer, err := os.OpenFile(path, os.O_WRONLY, 0)
	check(t, err)
	go func() { _, _ = writer.WriteString("abc"); writer.Close() }()
	if text, err := io.ReadAll(f); string(text) != "abc" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

// The pipe's writer may be a program that failed: its silence is not an empty file.
func TestOpenStream_NobodyWrites(t *testing.T) {
	f, err := input.OpenStream(context.Background(), makePipe(t))
	check(t, err)
	defer f.Close()
	if _, err := io.ReadAll(f); err == nil || !strings.Contains(err.Error(), "without a writer") {
		t.Error(err)
	}
}

func TestOpenStream_WaitsNoLongerThanTheContext(t *testing.T) {
	path := makePipe(t)
	ctx, cancel := context.WithCancel(context.Background())
	f, err := input.OpenStream(ctx, path)
	check(t, err)
	defer f.Close()
	writer, err := os.OpenFile(path, os.O_WRONLY, 0) // that writes nothing
	check(t, err)
	defer writer.Close()
	go cancel()
	if _, err := f.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
