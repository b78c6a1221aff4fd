package cudnn

import (
	"errors"
	"fmt"
	"strings"

	"nmn/cuda"
)

// Causes for which a caller can do something else.
var (
	// ErrNoLibrary: libcudnn.so.9 is not on this host.
	ErrNoLibrary = errors.New("no cuDNN 9")
	// ErrUnsupported: cuDNN has no plan for a convolution on this device.
	ErrUnsupported = errors.New("no cuDNN plan")
)

// Error is a call that cuDNN has refused.
type Error struct {
	Operation string // the operation that failed
	Code      int    // cudnnStatus_t
	Name      string // such as CUDNN_STATUS_BAD_PARAM
	Detail    string // the library's text about its last error; may be empty
}

func (e *Error) Error() string {
	text := fmt.Sprintf("cudnn: %s: %s (%d)", e.Operation, e.Name, e.Code)
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// deviceFull is CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED.
const deviceFull = 4004

// Unwrap gives cuda.ErrOutOfMemory if the memory of the card was full: cuDNN allocates some for code that it
// loads when first needed. Package dnn replaces the code by that of another failure, but the detail names it.
func (e *Error) Unwrap() error {
	if e.Code == deviceFull || e.Code < 0 && strings.Contains(e.Detail, "DEVICE_ALLOCATION_FAILED") {
		return cuda.ErrOutOfMemory
	}
	return nil
}
