//go:build linux && (amd64 || arm64)

package inject

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Call is a system call that would change something below the watched folder.
type Call struct {
	N    int    // of the calls below the watched folder, from 1
	Name string // as in the manual: write, renameat, fsync
	Path string // below the watched folder, which is "."; of a renaming or a link, the new name
	Old  string // of a renaming or a link, the other name; empty if it is not below the watched folder
	Size int    // bytes of a write
}

// Writes reports whether the call hands bytes to a file.
func (c Call) Writes() bool { return c.Name == "write" || c.Name == "pwrite64" }

// TakesSpace reports whether a full disk could refuse the call.
func (c Call) TakesSpace() bool {
	return c.Writes() || slices.Contains([]string{"writev", "fallocate", "openat", "linkat", "mkdirat", "symlinkat",
		"copy_file_range", "sendfile"}, c.Name)
}

// Syncs reports whether the call waits for the disk.
func (c Call) Syncs() bool { return c.Name == "fsync" || c.Name == "fdatasync" }

// Names reports whether the call gives a file a name that it did not have.
func (c Call) Names() bool {
	return slices.Contains([]string{"renameat", "renameat2", "linkat"}, c.Name)
}

// Verdict is the treatment of a call. The zero value lets it pass. Fields that are set take effect in their
// order.
type Verdict struct {
	Delay time.Duration
	// Signals are sent to the program before the call is made.
	Signals []unix.Signal
	// Half makes the first half of a write, as on a disk that fills up during it. The program receives that
	// result, unless the verdict goes on.
	Half bool
	// Kill ends the program: the call does not return.
	Kill bool
	// Errno is returned in place of the call's result.
	Errno unix.Errno
}
