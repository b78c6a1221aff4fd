//go:build cuda

package cuda

// #include "layer.h"
import "C"

import (
	"reflect"
	"unsafe"
)

// newError describes a code of the driver. A nil cause is derived from the code.
func newError(operation string, code int, cause error) *Error {
	if cause == nil {
		cause = causes[code]
	}
	return &Error{Operation: operation, Code: code, Name: nameOf(code), Detail: textOf(code), Cause: cause}
}

func nameOf(code int) string { return C.GoString(C.nmn_error_name(C.CUresult(code))) }
func textOf(code int) string { return C.GoString(C.nmn_error_text(C.CUresult(code))) }

// codeOf is the CUresult in an error of package cu, whose type is not exported. It is CUDA_ERROR_UNKNOWN for
// any other error.
func codeOf(err error) int {
	if v := reflect.ValueOf(err); v.Kind() == reflect.Int {
		return int(v.Int())
	}
	return C.CUDA_ERROR_UNKNOWN
}

// causes are the codes that mean one of the errors of this package.
var causes = map[int]error{
	C.CUDA_ERROR_OUT_OF_MEMORY:           ErrOutOfMemory,
	C.CUDA_ERROR_NO_DEVICE:               ErrNoDevice,
	C.CUDA_ERROR_INVALID_DEVICE:          ErrNoDevice,
	C.CUDA_ERROR_NO_BINARY_FOR_GPU:       ErrArchitecture,
	C.CUDA_ERROR_INVALID_PTX:             ErrArchitecture,
	C.CUDA_ERROR_UNSUPPORTED_PTX_VERSION: ErrArchitecture,

	C.CUDA_ERROR_DEINITIALIZED:        ErrDeviceLost,
	C.CUDA_ERROR_DEVICE_UNAVAILABLE:   ErrDeviceLost,
	C.CUDA_ERROR_ECC_UNCORRECTABLE:    ErrDeviceLost,
	C.CUDA_ERROR_NVLINK_UNCORRECTABLE: ErrDeviceLost,
	C.CUDA_ERROR_CONTAINED:            ErrDeviceLost,
	C.CUDA_ERROR_CONTEXT_IS_DESTROYED: ErrDeviceLost,
	C.CUDA_ERROR_EXTERNAL_DEVICE:      ErrDeviceLost,
	C.CUDA_ERROR_SYSTEM_NOT_READY:     ErrDeviceLost,

	C.CUDA_ERROR_ILLEGAL_ADDRESS:       ErrFault,
	C.CUDA_ERROR_LAUNCH_TIMEOUT:        ErrFault,
	C.CUDA_ERROR_ASSERT:                ErrFault,
	C.CUDA_ERROR_HARDWARE_STACK_ERROR:  ErrFault,
	C.CUDA_ERROR_ILLEGAL_INSTRUCTION:   ErrFault,
	C.CUDA_ERROR_MISALIGNED_ADDRESS:    ErrFault,
	C.CUDA_ERROR_INVALID_ADDRESS_SPACE: ErrFault,
	C.CUDA_ERROR_INVALID_PC:            ErrFault,
	C.CUDA_ERROR_LAUNCH_FAILED:         ErrFault,
}

// result turns a code of the C layer into an error that codeOf reads, nil for success.
func result(code C.CUresult) error {
	if code == C.CUDA_SUCCESS {
		return nil
	}
	return driverCode(code)
}

// driverCode is a CUresult as an error, in the form that package cu gives it.
type driverCode int

func (c driverCode) Error() string { return nameOf(int(c)) }

// rawOf is the handle in the first field of a type of package cu that does not export it. TestHandles checks
// the layouts of those types.
func rawOf[T any](of *T) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(of)) }
