//go:build unix

package input_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/input"
)

func makePipe(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	expect.OK(t, syscall.Mkfifo(path, 0o600))
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
	expect.OK(t, err)
	defer f.Close()
	writer, err := os.OpenFile(path, os.O_WRONLY, 0)
	expect.OK(t, err)
	go func() { _, _ = writer.WriteString("abc"); writer.Close() }()
	if text, err := io.ReadAll(f); string(text) != "abc" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

// The pipe's writer may be a program that failed: its silence is not an empty file.
func TestOpenStream_NobodyWrites(t *testing.T) {
	f, err := input.OpenStream(context.Background(), makePipe(t))
	expect.OK(t, err)
	defer f.Close()
	if _, err := io.ReadAll(f); err == nil || !strings.Contains(err.Error(), "without a writer") {
		t.Error(err)
	}
}

func TestOpenStream_WaitsNoLongerThanTheContext(t *testing.T) {
	path := makePipe(t)
	ctx, cancel := context.WithCancel(context.Background())
	f, err := input.OpenStream(ctx, path)
	expect.OK(t, err)
	defer f.Close()
	writer, err := os.OpenFile(path, os.O_WRONLY, 0) // that writes nothing
	expect.OK(t, err)
	defer writer.Close()
	go cancel()
	if _, err := f.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// The message names the kind of the path, because each kind has its own cure.
func TestOpenFile_SaysWhatIsNoFile(t *testing.T) {
	dir, err := os.MkdirTemp("", "s") // the path of a socket is short
	expect.OK(t, err)
	defer os.RemoveAll(dir)
	socket, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Skip("no sockets here: ", err)
	}
	defer socket.Close()
	for path, want := range map[string]string{
		makePipe(t): "is a pipe: write", filepath.Join(dir, "socket"): "is a socket: write",
		os.DevNull: "is a device: write", dir: "is a folder: name a file in it",
	} {
		f, err := input.OpenFile(path)
		if f != nil || !errors.Is(err, input.ErrNoFile) || !strings.Contains(err.Error(), `"`+path+`" `+want) {
			t.Errorf("error %v, want that %q %s", err, path, want)
		}
	}
}

// If a file exists and cannot be opened, the caller receives an error and no file.
func TestOpenFile_CannotBeOpened(t *testing.T) {
	path, pipe := filepath.Join(t.TempDir(), "a"), makePipe(t)
	expect.OK(t, os.WriteFile(path, nil, 0o600))
	var limit syscall.Rlimit
	expect.OK(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	none := limit
	none.Cur = 0
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Skip("the number of open files cannot be limited here: ", err)
	}
	f, err := input.OpenFile(path)
	stream, streaming := input.OpenStream(t.Context(), pipe)
	if restored := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); restored != nil {
		t.Fatal(restored)
	}
	if f != nil || !errors.Is(err, syscall.EMFILE) {
		t.Errorf("a file: %v, %v", f, err)
	}
	if stream != nil || !errors.Is(streaming, syscall.EMFILE) {
		t.Errorf("a pipe: %v, %v", stream, streaming)
	}
}
