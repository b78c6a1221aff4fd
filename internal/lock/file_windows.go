package lock

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// File locks an open file for as long as it is open. It fails at once if the file is already locked. Windows
// keeps other processes from reading locked bytes, so this lock covers a byte far after the end.
func File(f *os.File) error {
	behind := windows.Overlapped{Offset: ^uint32(0) - 1, OffsetHigh: ^uint32(0) >> 1}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &behind)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		return ErrHeld
	}
	return fmt.Errorf("%w: %w", ErrUnsupported, err)
}

// removable is set if the name of a file can be removed while the file is open.
const removable = false
