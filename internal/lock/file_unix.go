//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package lock

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// File locks an open file for as long as it is open. It fails at once if the file is already locked. The lock
// belongs to the open file, not to the process: a second File on another handle of the file fails too.
func File(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EWOULDBLOCK):
		return ErrHeld
	}
	// ENOLCK, ENOSYS, ENOTSUP and other errors of file systems without locks
	return fmt.Errorf("%w: %w", ErrUnsupported, err)
}

// removable is set if the name of a file can be removed while the file is open.
const removable = true
