// Package memory says how much memory a process may still take, so that what does not fit is refused with a sentence
// instead of ending the program. On Linux that is what the machine has available, or what is left below the limits of
// the control groups that the process is in, such as those of a container, and below ulimit -v. Elsewhere it is
// unknown.
package memory

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrFull is wrapped by the errors about memory that is not there.
var ErrFull = errors.New("not enough memory")

// Error is something that does not fit.
type Error struct {
	What         string // in the plural: "4 batches of 32 pictures"
	Needed, Free int64  // bytes
}

// Error says what does not fit; the cure is for the caller to add.
func (e *Error) Error() string {
	return fmt.Sprintf("%s need %s of memory and %s are free", e.What, Size(e.Needed), Size(e.Free))
}

// Unwrap gives ErrFull.
func (e *Error) Unwrap() error { return ErrFull }

// Check returns an *Error where something of so many bytes does not fit into the memory that is free; nil where that
// is unknown.
func Check(what string, bytes int64) error {
	free, known := Free()
	if !known || bytes <= free {
		return nil
	}
	debug.FreeOSMemory() // what the program itself no longer uses
	if free, known = Free(); !known || bytes <= free {
		return nil
	}
	return &Error{what, bytes, free}
}

// Size is a number of bytes for people: 23.4 GB.
func Size(bytes int64) string {
	units := []string{"kB", "MB", "GB", "TB"}
	size, unit := float64(bytes)/1e3, 0
	for size >= 999.5 && unit < len(units)-1 {
		size, unit = size/1e3, unit+1
	}
	return fmt.Sprintf("%.3g %s", size, units[unit])
}
