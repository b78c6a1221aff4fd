// Package lock keeps other processes away from files that one process is writing. The kernel holds the locks
// and releases them when their process ends in any way, so none is left over.
package lock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Holder is the process that holds a lock.
type Holder struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Command string    `json:"command"` // as it was called
	Since   time.Time `json:"since"`
}

// String describes the process in text, as "process 7 on host (nmn train, since 2026-03-01 10:31)". The
// content of a lock file is not trusted: control characters are quoted.
func (h Holder) String() string {
	if h.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d on %s (%s, since %s)", h.PID, printable(h.Host), printable(h.Command),
		h.Since.Local().Format("2006-01-02 15:04"))
}

// printable is a text of a sensible length without control characters.
func printable(s string) string {
	const most = 160
	runes := []rune(strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '?'
		}
		return r
	}, s))
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(runes)
}

// HeldError names the holder of a lock. It wraps ErrHeld.
type HeldError struct{ Holder Holder }

func (e *HeldError) Error() string { return "locked by " + e.Holder.String() }

// Unwrap makes the error one of a lock that is held.
func (e *HeldError) Unwrap() error { return ErrHeld }

// Tidy removes the file of a lock whose holder has died. A lock that is held stays, and so does a file that no lock has
// written.
func Tidy(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	l, err := Take(path)
	if errors.Is(err, ErrHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	return l.Release()
}

// Lock is a lock that this process holds by a file of its own, which names the process to others.
type Lock struct {
	file   *os.File
	holder Holder // as written in the file; zero if that could not be written
}

// attempts limits how often a file is opened again after another process has removed its name.
const attempts = 100

// Take locks a file, which it creates if needed. A lock that is held is a *HeldError. A lock that the file
// system does not support, or does not keep, is an error that wraps ErrUnsupported. Take refuses a file that
// no lock has written, and a path that is not a regular file. The folder must exist.
func Take(path string) (*Lock, error) { return takeBy(path, File, os.OpenFile) }

// opener is os.OpenFile.
type opener func(path string, flag int, perm fs.FileMode) (*os.File, error)

// takeBy is Take with ways to lock an open file and to open it.
func takeBy(path string, lock func(*os.File) error, open opener) (*Lock, error) {
	for range attempts {
		l, err := take(path, lock, open)
		if l != nil || err != nil {
			return l, err
		}
	}
	return nil, &HeldError{}
}

// take is one attempt. It returns nil if the name of the file was removed before it was locked. A network
// file system with an outdated list of files does not create the file, and then does not find it.
func take(path string, lock func(*os.File) error, open opener) (*Lock, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() { // a link could lead to another's file
		return nil, fmt.Errorf("%s is no regular file: move it away", path)
	}
	file, err := open(path, os.O_RDWR|os.O_CREATE, 0o666)
	if errors.Is(err, fs.ErrNotExist) {
		if _, missing := os.Stat(filepath.Dir(path)); missing == nil {
			return nil, nil
		}
	}
	if err != nil {
		return nil, err
	}
	if err := lock(file); err != nil {
		if errors.Is(err, ErrHeld) {
			err = &HeldError{readHolder(file)}
		} else {
			_ = os.Remove(path) // it is useless
		}
		return nil, errors.Join(err, file.Close())
	}
	mine, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	there, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !os.SameFile(mine, there):
		return nil, file.Close()
	case err != nil:
		return nil, errors.Join(err, file.Close())
	}
	l := &Lock{file: file}
	if foreign(file) {
		return nil, errors.Join(fmt.Errorf("%s holds something else than a lock: move it away", path), file.Close())
	}
	_ = l.sign() // if a full disk prevents it, the lock holds anyway, and others see an unnamed process
	switch err := l.kept(lock, open); {
	case errors.Is(err, fs.ErrNotExist): // another process has removed it: locks are not kept
		return nil, file.Close()
	case errors.Is(err, ErrHeld), errors.Is(err, ErrUnsupported):
		return nil, errors.Join(err, file.Close())
	case err != nil: // it could not be tried
		return nil, errors.Join(err, l.Release())
	}
	return l, nil
}

// kept reports whether the file system keeps the lock: another open file of this name cannot be locked, and
// names this process as the holder.
func (l *Lock) kept(lock func(*os.File) error, open opener) error {
	other, err := open(l.file.Name(), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer other.Close()
	if lock(other) == nil {
		return fmt.Errorf("the file system of %s lets two hold one lock: %w", l.file.Name(), ErrUnsupported)
	}
	if h := readHolder(other); h.PID != 0 && !h.same(l.holder) {
		return &HeldError{h}
	}
	return nil
}

func (h Holder) same(o Holder) bool {
	return h.PID == o.PID && h.Host == o.Host && h.Since.Equal(o.Since)
}

// foreign reports whether a file holds content that no lock has written. After a power failure, the file of a
// lock can be cut short or hold zeros.
func foreign(file io.ReaderAt) bool {
	start := []byte(`{"pid":`)
	have := make([]byte, len(start))
	n, _ := file.ReadAt(have, 0)
	have = bytes.TrimRight(have[:n], "\x00")
	return !bytes.HasPrefix(start, have)
}

// sign writes the holder of the lock into its file.
func (l *Lock) sign() error {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	command := strings.Join(append([]string{filepath.Base(os.Args[0])}, os.Args[1:]...), " ")
	h := Holder{PID: os.Getpid(), Host: host, Command: command, Since: time.Now()}
	line, err := json.Marshal(h)
	if err == nil {
		err = l.file.Truncate(0)
	}
	if err == nil {
		_, err = l.file.WriteAt(append(line, '\n'), 0)
	}
	if err == nil {
		l.holder = h
	}
	return err
}

// readHolder reads the holder of a lock. It is empty while the holder is writing it.
func readHolder(file *os.File) (h Holder) {
	line, err := io.ReadAll(io.NewSectionReader(file, 0, 1<<16))
	if err != nil || json.Unmarshal(line, &h) != nil {
		return Holder{}
	}
	return h
}

// Release releases the lock and removes its file. Another process that has locked the file by then notices
// it, because Take checks whether its locked file still has its name. If another process has signed or
// removed the file, which only happens on a file system that does not keep locks, the error reports it.
func (l *Lock) Release() error {
	path := l.file.Name()
	if err := l.shared(path); err != nil {
		return errors.Join(err, l.file.Close())
	}
	if removable {
		return errors.Join(os.Remove(path), l.file.Close())
	}
	err := l.file.Close()
	_ = os.Remove(path) // it fails if another process has opened it, and needs it
	return err
}

// shared is the error of a lock that another process held at the same time; nil for none.
func (l *Lock) shared(path string) error {
	if l.holder.PID == 0 {
		return nil
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the lock %s is gone: it was removed, by hand or by another process that has written there at the "+
			"same time: %w", path, err)
	}
	if err != nil {
		return nil // it is unknown
	}
	defer file.Close()
	other := readHolder(file)
	if other.PID == 0 || other.same(l.holder) {
		return nil
	}
	return fmt.Errorf("%v has written to %s at the same time: the file system does not keep locks between them, and what "+
		"was written cannot be trusted: %w", other, filepath.Dir(path), ErrUnsupported)
}

var (
	// ErrHeld is wrapped by errors about a lock that another process holds, or another part of this one.
	ErrHeld = errors.New("another process holds the lock")
	// ErrUnsupported is wrapped by errors about a system, or a file system such as some network ones, without locks.
	ErrUnsupported = errors.New("there are no locks here")
)
