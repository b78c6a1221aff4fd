package folder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"nmn/internal/durable"
	"nmn/internal/lock"
)

// LockFile is the file by which the process that writes a run folder keeps others out of it.
const LockFile = "run.lock"

type writtenError struct {
	dir string
	by  *lock.HeldError
}

func (e *writtenError) Error() string {
	return fmt.Sprintf("%s is being written by %v; wait for it or give another `run_dir`", e.dir, e.by.Holder)
}

func (e *writtenError) Unwrap() error { return e.by }

// Lock keeps other processes out of a folder, which is made where it is not there, until release is called. It comes
// before anything in the folder is touched. A folder that another process is writing is an error that wraps
// lock.ErrHeld and names the process. Where the file system has no locks, that is logged as a warning. A folder that
// cannot be written needs no lock. The lock is not for the folders below, which have their own. A disk that is full
// gets a moment.
func Lock(ctx context.Context, dir string, log *slog.Logger) (release func() error, err error) {
	return take(ctx, dir, filepath.Join(dir, LockFile), log)
}

// LockBeside is Lock by a file next to the folder, DIR.lock. The folder may have a lock of its own too, or not exist.
func LockBeside(ctx context.Context, dir string, log *slog.Logger) (release func() error, err error) {
	return take(ctx, dir, NextTo(dir), log)
}

// NextTo returns the path of the lock file that LockBeside uses.
func NextTo(dir string) string { return filepath.Clean(dir) + ".lock" }

// WhenFree calls f again for as long as another process has the lock that it takes, once a second until ctx ends. It
// calls waiting once, with the error of f, if there is something to wait for.
func WhenFree(ctx context.Context, waiting func(error), f func() error) error {
	for waits := false; ; waits = true {
		err := f()
		if !errors.Is(err, lock.ErrHeld) {
			return err
		}
		if !waits {
			waiting(err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

func take(ctx context.Context, dir, path string, log *slog.Logger) (release func() error, err error) {
	var held *lock.Lock
	patiently := func(do func() error) error { return durable.Patiently(ctx, durable.WarnFull(log), do) }
	if err := patiently(func() error { return os.MkdirAll(filepath.Dir(path), 0o777) }); err != nil {
		return nil, err
	}
	err = patiently(func() (err error) {
		held, err = lock.Take(path)
		return err
	})
	nothing := func() error { return nil }
	var other *lock.HeldError
	switch {
	case errors.As(err, &other):
		return nil, &writtenError{dir, other}
	case errors.Is(err, lock.ErrUnsupported):
		log.Warn("this file system has no locks: take care that no other process writes to the same folder", "dir", dir,
			"error", err)
		return nothing, nil
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return nothing, nil // what is complete can be read even so, and the first write says what is wrong
	case err != nil:
		return nil, fmt.Errorf("cannot lock %s: %w", dir, err)
	}
	return held.Release, nil
}
