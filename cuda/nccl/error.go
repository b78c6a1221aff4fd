//go:build cuda

package nccl

// #include "layer.h"
import "C"

import (
	"fmt"
	"unsafe"
)

// codeRemote is the library's result if another rank has left.
const codeRemote = 6

// Error is a call that NCCL has refused, or an error that it has noticed later.
type Error struct {
	Operation string // the operation that failed
	Code      int    // ncclResult_t
	Text      string // NCCL's name of the code
	Detail    string // NCCL's words about this case, if any
}

func (e *Error) Error() string {
	text := fmt.Sprintf("nccl: %s: %s (%d)", e.Operation, e.Text, e.Code)
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text + " (set NCCL_DEBUG=INFO for details)"
}

// Is makes the loss of another rank equal to ErrAborted.
func (e *Error) Is(target error) bool { return target == ErrAborted && e.Code == codeRemote }

// check makes the error of a code. comm may be nil.
func check(operation string, code C.int, comm unsafe.Pointer) error {
	if code == 0 {
		return nil
	}
	return &Error{
		Operation: operation, Code: int(code), Text: C.GoString(C.nmn_nccl_error(code)),
		Detail: C.GoString(C.nmn_nccl_last_error(comm)),
	}
}
