//go:build cuda

package cublas

// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// #include "layer.h"
import "C"

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"unsafe"

	"nmn/cuda"
)

// LibraryVariable is the environment variable that names libcublasLt, or the folder that holds it.
const LibraryVariable = "NMN_LIBCUBLASLT"

// libraryNames are those of the library of CUDA 13 and 12.
var libraryNames = []string{"libcublasLt.so.13", "libcublasLt.so.12"}

// library opens libcublasLt once for the process.
var library = sync.OnceValue(openLibrary)

// openLibrary takes the first libcublasLt that can be opened.
func openLibrary() error {
	var reasons []error
	for _, path := range candidates(os.Getenv, executableFolder()) {
		err := openAt(path)
		if err == nil {
			return nil
		}
		reasons = append(reasons, err)
	}
	if len(reasons) == 0 {
		return fmt.Errorf("cublas: %s names another driver, and %s no cuBLASLt for it: %w", cuda.DriverVariable,
			LibraryVariable, ErrNoLibrary)
	}
	return fmt.Errorf("cublas: cannot open %s (%s names another place): %w: %w", libraryNames[0], LibraryVariable,
		reasons[0], ErrNoLibrary)
}

// Version is that of the open library, major·10000 + minor·100 + patch; 0 before Open.
func Version() int { return int(C.nmn_cublas_version()) }

// candidates are the places of libcublasLt, the first the most wanted: the one that is named, what the linker finds,
// which is also what was opened beside cuDNN in Python's packages, CUDA_HOME, and the toolkit of this project's
// checkout. The library opens the host's driver by itself: where another one is named, none is looked for.
func candidates(getenv func(string) string, program string) (list []string) {
	if named := getenv(LibraryVariable); named != "" {
		if info, err := os.Stat(named); err == nil && info.IsDir() {
			for _, name := range libraryNames {
				list = append(list, filepath.Join(named, name))
			}
			return list
		}
		return []string{named}
	}
	if getenv(cuda.DriverVariable) != "" {
		return nil
	}
	list = append(list, libraryNames...)
	folders := []string{program, filepath.Join(program, "lib"), filepath.Join(program, "build/cuda-toolkit/nvidia/cu13/lib"),
		"/usr/local/cuda/lib64"}
	if home := getenv("CUDA_HOME"); home != "" {
		folders = append([]string{filepath.Join(home, "lib"), filepath.Join(home, "lib64")}, folders...)
	}
	for _, folder := range folders {
		for _, name := range libraryNames {
			if path := filepath.Join(folder, name); exists(path) {
				list = append(list, path)
			}
		}
	}
	return list
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func executableFolder() string {
	path, err := os.Executable()
	if err != nil {
		return "."
	}
	return filepath.Dir(path)
}

func openAt(path string) error {
	cpath := C.CString(path)
	defer C.free(unsafe.Pointer(cpath))
	if why := C.nmn_cublas_open(cpath); why != nil {
		return errors.New(C.GoString(why))
	}
	return nil
}
