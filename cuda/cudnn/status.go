//go:build cuda

package cudnn

// #include "layer.h"
import "C"

import (
	"bytes"
	"fmt"
	"unsafe"
)

// check turns a status into an error with the library's own words.
func check(operation string, status C.cudnnStatus_t) error {
	if status == C.CUDNN_STATUS_SUCCESS {
		return nil
	}
	var words [512]byte
	C.cudnnGetLastErrorString((*C.char)(unsafe.Pointer(&words[0])), C.size_t(len(words)))
	detail, _, _ := bytes.Cut(words[:], []byte{0})
	return &Error{
		Operation: operation, Code: int(status),
		Name: C.GoString(C.cudnnGetErrorString(status)), Detail: string(bytes.TrimSpace(detail)),
	}
}

// recovered turns a panic of package dnn into an error: its NewContext panics if there is no device.
func recovered(operation string, err *error) {
	if r := recover(); r != nil {
		*err = &Error{Operation: operation, Code: -1, Name: fmt.Sprint(r), Detail: lastWords()}
	}
}

func lastWords() string {
	if e, ok := check("", C.CUDNN_STATUS_INTERNAL_ERROR).(*Error); ok {
		return e.Detail
	}
	return ""
}

// rawOf is the handle in the first field of a type of package dnn, which does not export it. TestHandles
// checks the layouts of those types.
func rawOf[T any](of *T) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(of)) }
