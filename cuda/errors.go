package cuda

import (
	"errors"
	"fmt"
	"strings"
)

// Causes for which a caller can do something else: take the CPU, a smaller batch, another device.
var (
	// ErrNoDriver: libcuda.so.1 is not on this host.
	ErrNoDriver = errors.New("no NVIDIA driver")
	// ErrOldDriver: the driver is older than this build needs.
	ErrOldDriver = errors.New("the NVIDIA driver is too old")
	// ErrNoDevice: the driver has no device, or none with the requested number.
	ErrNoDevice = errors.New("no such CUDA device")
	// ErrArchitecture: the device is older than the kernels of this build.
	ErrArchitecture = errors.New("no kernels for this device")
	// ErrOutOfMemory: wrapped by OutOfMemoryError.
	ErrOutOfMemory = errors.New("out of device memory")
	// ErrFault: a kernel has failed; wrapped by FaultError. The device is lost to this process.
	ErrFault = errors.New("a kernel has failed")
	// ErrDeviceLost: the device has failed or was taken away.
	ErrDeviceLost = errors.New("the device is lost")
	// ErrClosed: the device was closed before.
	ErrClosed = errors.New("the device is closed")
)

// Error is a call that the driver has refused.
type Error struct {
	Operation string // the operation, with its numbers
	Code      int    // CUresult
	Name      string // such as CUDA_ERROR_INVALID_VALUE
	Detail    string // the driver's words
	Cause     error  // one of the errors above, or nil
}

func (e *Error) Error() string {
	text := fmt.Sprintf("cuda: %s: %s (%d, %s)", e.Operation, e.Detail, e.Code, e.Name)
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// OutOfMemoryError is an allocation that did not fit. It wraps ErrOutOfMemory.
type OutOfMemoryError struct {
	Asked int // bytes
	Held  int // bytes that this process holds on the device through this package
	Free  int // bytes free at that moment; -1 if the driver did not report them
	Total int // bytes of the device
}

func (e *OutOfMemoryError) Error() string {
	free := "how much is free is unknown"
	if e.Free >= 0 {
		free = formatBytes(e.Free) + " of " + formatBytes(e.Total) + " are free"
	}
	return fmt.Sprintf("cuda: cannot allocate %s: %s, and this program holds %s: use a smaller batch, smaller pictures "+
		"or fewer frames: %v",
		formatBytes(e.Asked), free, formatBytes(e.Held), ErrOutOfMemory)
}

// Unwrap gives ErrOutOfMemory.
func (e *OutOfMemoryError) Unwrap() error { return ErrOutOfMemory }

// FaultError is a kernel that failed while it ran. It wraps ErrFault.
type FaultError struct {
	Noticed string // the call that noticed it
	Launch  string // the launch that failed; empty if only Recent is known
	// Recent are the launches that may not have ended, the latest last, at most 16 of each stream. If there
	// are none, a copy failed, or work that was not recorded as a launch.
	Recent []string
	Name   string // such as CUDA_ERROR_ILLEGAL_ADDRESS
	Detail string // the driver's words
}

func (e *FaultError) Error() string {
	where := "kernel " + e.Launch
	switch {
	case e.Launch != "":
	case len(e.Recent) == 0:
		where = "work after all launches"
	default:
		where = "one of the launches " + strings.Join(e.Recent, ", ") + " (set `run.sync_launches` to find which)"
	}
	return fmt.Sprintf("cuda: %s: %s (%s), noticed by: %s: %v", where, e.Detail, e.Name, e.Noticed, ErrFault)
}

// Unwrap gives ErrFault.
func (e *FaultError) Unwrap() error { return ErrFault }

// formatBytes writes a size in the unit that gives it few digits.
func formatBytes(n int) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.2f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}
