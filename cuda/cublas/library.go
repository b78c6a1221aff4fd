//go:build cuda

package cublas

// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// #include "layer.h"
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"nmn/cuda"
)

// LibraryVariable is the environment variable that names libcublasLt, or the folder that holds it.
const LibraryVariable = "NMN_LIBCUBLASLT"

// libraryNames are the names of the library in CUDA 13 and 12.
var libraryNames = []string{"libcublasLt.so.13", "libcublasLt.so.12"}

// library opens libcublasLt once for the process.
var library = sync.OnceValue(openLibrary)

// openLibrary takes the first libcublasLt that can be opened.
func openLibrary() error {
	switch path, err := places.Open(openAt); {
	case err != nil:
		return fmt.Errorf("cublas: cannot open %s (%s names another place): %w: %w", libraryNames[0], LibraryVariable,
			err, ErrNoLibrary)
	case path == "":
		return fmt.Errorf("cublas: %s names another driver, and %s no cuBLASLt for it: %w", cuda.DriverVariable,
			LibraryVariable, ErrNoLibrary)
	}
	return nil
}

// Version is the version of the open library, major·10000 + minor·100 + patch; 0 before Open.
func Version() int { return int(C.nmn_cublas_version()) }

// places are the places of libcublasLt. The linker also finds the library that was opened next to cuDNN in
// Python's packages.
var places = cuda.Library{Variable: LibraryVariable, Names: libraryNames, Homes: []string{"CUDA_HOME"},
	Toolkit: "cu13/lib", System: []string{"/usr/local/cuda/lib64"}, Driver: true}

func openAt(path string) error {
	cpath := C.CString(path)
	defer C.free(unsafe.Pointer(cpath))
	if why := C.nmn_cublas_open(cpath); why != nil {
		return errors.New(C.GoString(why))
	}
	return nil
}
