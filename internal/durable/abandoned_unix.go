//go:build !windows

package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"nmn/internal/lock"
)

// leastDigits is how many digits the name of a file aside has, of up to nineteen that are drawn. Hidden files of others
// whose names end in a number mostly have fewer.
const leastDigits = 17

// mostNames is how many names of a folder are looked at, so that a folder of very many files costs little each time.
const mostNames = 1000

// removeAbandoned removes files aside of a target whose processes were killed: no process holds them locked. It is
// tidying up, so that errors do not count.
func removeAbandoned(path string) {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(mostNames)
	for _, name := range names {
		if isAside(name, path) {
			removeUnlocked(filepath.Join(filepath.Dir(path), name))
		}
	}
}

// isAside reports whether a name, without its folder, is one of a file aside of a target.
func isAside(name, path string) bool {
	digits, ours := strings.CutPrefix(name, "."+filepath.Base(path))
	return ours && len(digits) >= leastDigits && strings.Trim(digits, "0123456789") == ""
}

// removeUnlocked removes a file unless a process holds it locked.
func removeUnlocked(path string) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer file.Close()
	if lock.File(file) == nil {
		_ = os.Remove(path)
	}
}

// holdAside locks a new file aside by a handle of its own, which stays open while the file is closed and
// renamed. held is false if another process was faster, which then removes the file. On a file system without
// locks no process removes anything, and the file needs no lock.
func holdAside(file *os.File) (hold *os.File, held bool) {
	hold, err := os.Open(file.Name())
	if err != nil {
		return nil, !errors.Is(err, fs.ErrNotExist)
	}
	if err := lock.File(hold); errors.Is(err, lock.ErrHeld) || err == nil && !named(file) {
		hold.Close()
		return nil, false
	}
	return hold, true
}

// named reports whether a file still has the name under which it was opened.
func named(file *os.File) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(file.Name())
	return err == nil && os.SameFile(opened, there)
}
