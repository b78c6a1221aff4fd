//go:build linux && (amd64 || arm64)

package inject

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// pathOf finds the file of a call: by its descriptor, or by a path in the memory of the process.
func pathOf(n *notification, place where) (string, error) {
	if place.file >= 0 {
		return os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", n.pid, int32(n.args[place.file])))
	}
	name, err := readName(int(n.pid), n.args[place.dir+1])
	if err != nil || filepath.IsAbs(name) {
		return filepath.Clean(name), err
	}
	folder := fmt.Sprintf("/proc/%d/cwd", n.pid)
	if fd := int32(n.args[place.dir]); fd != unix.AT_FDCWD {
		folder = fmt.Sprintf("/proc/%d/fd/%d", n.pid, fd)
	}
	base, err := os.Readlink(folder)
	return filepath.Join(base, name), err
}

// readName reads a string that ends in a zero byte.
func readName(pid int, at uint64) (string, error) {
	b, err := readMemory(pid, at, unix.PathMax)
	name, _, ended := bytes.Cut(b, []byte{0})
	if !ended {
		return "", errors.Join(err, errors.New("a name does not end"))
	}
	return string(name), nil
}

// readMemory reads up to size bytes, or fewer if the memory ends before.
func readMemory(pid int, at uint64, size int) ([]byte, error) {
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return nil, err
	}
	defer memory.Close()
	b := make([]byte, size)
	n, err := memory.ReadAt(b, int64(at))
	return b[:n], err
}

// writeHalf makes the first half of a write in place of the process, through its own open file, so that its offset
// moves.
func writeHalf(n *notification) (int, error) {
	b, err := readMemory(int(n.pid), n.args[1], int(n.args[2]/2))
	if err != nil {
		return 0, err
	}
	process, err := unix.PidfdOpen(tgid(int(n.pid)), 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(process)
	file, err := unix.PidfdGetfd(process, int(n.args[0]), 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(file)
	if n.number == unix.SYS_PWRITE64 {
		return unix.Pwrite(file, b, int64(n.args[3]))
	}
	return unix.Write(file, b)
}

// tgid is the process of a thread.
func tgid(thread int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", thread))
	if err != nil {
		return thread
	}
	for line := range bytes.Lines(status) {
		var id int
		if _, err := fmt.Sscanf(string(line), "Tgid: %d", &id); err == nil {
			return id
		}
	}
	return thread
}
