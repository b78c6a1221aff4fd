//go:build cuda

package cuda

// #include <stdlib.h>
// #include "layer.h"
import "C"

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"unsafe"
)

// driverLibrary is the file name of the driver's library.
const driverLibrary = "libcuda.so.1"

// compatLibraries are the libraries of NVIDIA's packages cuda-compat on this host, the newest first. Such a library
// speaks a newer CUDA to the kernel module of an older driver, on datacentre cards.
func compatLibraries() (found []string) {
	folders := []string{os.Getenv("CUDA_HOME"), os.Getenv("CUDA_PATH")}
	versioned, _ := filepath.Glob("/usr/local/cuda-13*") // the pattern is well formed
	slices.Sort(versioned)
	slices.Reverse(versioned)
	folders = append(append(folders, versioned...), "/usr/local/cuda")
	for _, folder := range folders {
		path := filepath.Join(folder, "compat", driverLibrary)
		if _, err := os.Stat(path); folder != "" && err == nil && !slices.Contains(found, path) {
			found = append(found, path)
		}
	}
	return found
}

// versionOf returns the CUDA version of a library, without keeping it open. It returns 0 if the library does
// not report one.
func versionOf(path string) int {
	cpath := C.CString(path)
	defer C.free(unsafe.Pointer(cpath))
	return int(C.nmn_driver_version(cpath))
}

// newerThan returns the first of some libraries that supports this build's CUDA if the host's own library is
// too old for it. It returns none if the host's library is new enough, or does not report its version.
func newerThan(own []string, compat []string) (library string, version int) {
	if len(compat) == 0 {
		return "", 0
	}
	for _, path := range own {
		version = cmp.Or(version, versionOf(path))
	}
	if version == 0 || version >= minimumDriver {
		return "", version
	}
	for _, path := range compat {
		if versionOf(path) >= minimumDriver {
			return path, version
		}
	}
	return "", version
}

// openCompat opens a library of cuda-compat instead of the driver's own, which is older.
func openCompat(path string, version int) error {
	err := openAt(path)
	if err == nil {
		err = initialize()
	}
	var refused *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused) && refused.Code != C.CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE &&
		refused.Code != C.CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
		return err
	}
	return fmt.Errorf("cuda: the driver speaks CUDA %s, this program needs %s, and %s does not make up for it, as it "+
		"does on datacentre cards with a driver that is not too old: install driver 580 or newer: %w: %w",
		formatVersion(version), formatVersion(minimumDriver), path, err, ErrOldDriver)
}
