//go:build unix

package input_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nmn/internal/input"
)

// The message names the kind of the path, because each kind has its own cure.
func TestOpenFile_SaysWhatIsNoFile(t *testing.T) {
	dir, err := os.MkdirTemp("", "s") // the path of a socket is short
	check(t, err)
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
	check(t, os.WriteFile(path, nil, 0o600))
	var limit syscall.Rlimit
	check(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
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
