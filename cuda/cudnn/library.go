//go:build cuda

package cudnn

// #cgo LDFLAGS: -lcudnn -ldl
// #include <stdlib.h>
// #include "layer.h"
import "C"

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"unsafe"

	"nmn/cuda"
)

// LibraryVariable is the environment variable that names libcudnn.so.9, or the folder that holds it.
const LibraryVariable = "NMN_LIBCUDNN"

const libraryName = "libcudnn.so.9"

// library opens libcudnn once for the process: the trampolines have one set of slots.
var library = sync.OnceValue(openLibrary)

// openLibrary takes the first libcudnn that can be opened.
func openLibrary() error {
	path, err := places.Open(openAt)
	if err != nil {
		return fmt.Errorf("cudnn: cannot open %s, also not in an installed torch or nvidia-cudnn of Python (%s names "+
			"another place): %w: %w", libraryName, LibraryVariable, err, ErrNoLibrary)
	}
	if v := Version(); v < 90000 || v >= 100000 {
		return fmt.Errorf("cudnn: %s is version %d, want 9: %w", path, v, ErrNoLibrary)
	}
	return nil
}

// Version is the version of the open library, major·10000 + minor·100 + patch; 0 before Open.
func Version() int { return int(C.cudnnGetVersion()) }

// places are the places of libcudnn.
var places = cuda.Library{Variable: LibraryVariable, Names: []string{libraryName}, Homes: []string{"CUDNN_HOME",
	"CUDA_HOME"},
	Toolkit: "cudnn/lib", Packages: []string{"nvidia/cudnn/lib", "torch/lib"},
	System: []string{"/usr/local/cuda/lib64", "/usr/local/cudnn/lib"}}

// openAt opens a libcudnn after the libraries that it looks up by name when it needs them: in Python's
// packages they lie outside the linker's paths. The compiler, libnvrtc, looks up its built-ins in turn.
func openAt(path string) error {
	packages := filepath.Dir(filepath.Dir(filepath.Dir(path))) // PACKAGES/cudnn/lib/libcudnn.so.9
	for _, pattern := range []string{
		"cu13/lib/libnvrtc-builtins.so.13*", "cu13/lib/libnvrtc.so.13", "cu13/lib/libcublasLt.so.13",
		"cu13/lib/libcublas.so.13",
		"cuda_nvrtc/lib/libnvrtc-builtins.so.12*", "cuda_nvrtc/lib/libnvrtc.so.12", "cublas/lib/libcublasLt.so.12",
		"cublas/lib/libcublas.so.12",
	} {
		if !strings.HasPrefix(path, "/") {
			break
		}
		companions, _ := filepath.Glob(filepath.Join(packages, pattern)) // a bad pattern finds nothing
		for _, companion := range companions {
			_ = dlopen(companion, false) // most convolutions do without
		}
	}
	return dlopen(path, true)
}

func dlopen(path string, bind bool) error {
	cpath := C.CString(path)
	defer C.free(unsafe.Pointer(cpath))
	open := func() *C.char { return C.nmn_library_open(cpath) }
	if bind {
		open = func() *C.char { return C.nmn_cudnn_open(cpath) }
	}
	if why := open(); why != nil {
		return errors.New(C.GoString(why))
	}
	return nil
}
