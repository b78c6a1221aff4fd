// Package memory estimates how much memory a process may still take, so that a larger need is an error with
// an explanation instead of a killed program. On Linux the estimate is the machine's available memory. It is
// less if ulimit -v or the limits of the process's control groups, such as a container's, leave less.
// Elsewhere it is unknown.
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

// Error names what does not fit. Callers add the cure.
func (e *Error) Error() string {
	return fmt.Sprintf("%s need %s of memory and %s are free", e.What, Size(e.Needed), Size(e.Free))
}

// Unwrap gives ErrFull.
func (e *Error) Unwrap() error { return ErrFull }

// Check returns an *Error if this number of bytes does not fit into the free memory, and nil if that is
// unknown.
func Check(what string, bytes int64) error {
	free, known := Free()
	if !known || bytes <= free {
		return nil
	}
	debug.FreeOSMemory() // memory that the program no longer uses
	if free, known = Free(); !known || bytes <= free {
		return nil
	}
	return &Error{what, bytes, free}
}

// Size is a number of bytes in text: 23.4 GB.
func Size(bytes int64) string {
	units := []string{"kB", "MB", "GB", "TB"}
	size, unit := float64(bytes)/1e3, 0
	for size >= 999.5 && unit < len(units)-1 {
		size, unit = size/1e3, unit+1
	}
	return fmt.Sprintf("%.3g %s", size, units[unit])
}
