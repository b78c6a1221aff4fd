//go:build cuda

package nccl

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

// LibraryVariable is the environment variable that names libnccl.so.2, or the folder that holds it.
const LibraryVariable = "NMN_LIBNCCL"

const libraryName = "libnccl.so.2"

// MinimumVersion is the oldest supported NCCL, 2.18, from PyTorch 2.1, as major·10000 + minor·100 + patch.
// Older ones may have all functions that are called here, but are not tested.
const MinimumVersion = 21800

// library opens libnccl once for the process.
var library = sync.OnceValue(openLibrary)

// Open opens libnccl. If it is missing or too old, the error wraps ErrNoLibrary.
func Open() error { return library() }

// Version is the version of the open library, major·10000 + minor·100 + patch; 0 before Open.
func Version() int { return int(C.nmn_nccl_version()) }

// openLibrary takes the first libnccl that can be opened.
func openLibrary() error {
	path, err := places.Open(openAt)
	switch {
	case err != nil:
		return fmt.Errorf("nccl: cannot open %s, also not in an installed torch or nvidia-nccl of Python: install it (pip "+
			"install nvidia-nccl-cu13), or name it by %s: %w: %w", libraryName, LibraryVariable, err, ErrNoLibrary)
	case path == "":
		return fmt.Errorf("nccl: %s names another driver, and %s no NCCL for it: %w", cuda.DriverVariable, LibraryVariable,
			ErrNoLibrary)
	case Version() < MinimumVersion:
		return fmt.Errorf("nccl: %s is version %s, want %s or newer: %w", path, FormatVersion(Version()),
			FormatVersion(MinimumVersion), ErrNoLibrary)
	}
	return nil
}

// FormatVersion writes a version in its usual form, such as 2.30.7.
func FormatVersion(v int) string { return fmt.Sprintf("%d.%d.%d", v/10000, v/100%100, v%100) }

// places are the places of libnccl.
var places = cuda.Library{Variable: LibraryVariable, Names: []string{libraryName}, Homes: []string{"CUDA_HOME"},
	Beside: []string{"nccl/lib"}, Toolkit: "nccl/lib", Packages: []string{"nvidia/nccl/lib"},
	System: []string{"/usr/local/cuda/lib64"}, Driver: true}

func openAt(path string) error {
	cpath := C.CString(path)
	defer C.free(unsafe.Pointer(cpath))
	if why := C.nmn_nccl_open(cpath); why != nil {
		return errors.New(C.GoString(why))
	}
	return nil
}
