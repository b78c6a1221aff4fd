//go:build cuda

package cuda

// #cgo LDFLAGS: -lcuda -ldl
// #include <stdlib.h>
// #include "layer.h"
import "C"

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"unsafe"

	"gorgonia.org/cu"
)

// minimumDriver is the version of CUDA that the driver must speak, as major·1000 + minor·10: the one
// that the kernels are compiled for.
const minimumDriver = 13000

// driver opens the driver once for the process: the trampolines have one set of slots.
var driver = sync.OnceValue(openDriver)

// openDriver finds libcuda and initializes it.
func openDriver() error {
	paths := []string{driverLibrary, "/usr/lib/wsl/lib/" + driverLibrary, "/usr/local/nvidia/lib64/" + driverLibrary}
	if named := os.Getenv(DriverVariable); named != "" {
		paths = []string{named}
	} else if compat, version := newerThan(paths, compatLibraries()); compat != "" {
		return openCompat(compat, version)
	}
	var reasons []error
	for _, path := range paths {
		why := openAt(path)
		if why == nil {
			return initialize()
		}
		reasons = append(reasons, why)
	}
	return fmt.Errorf("cuda: cannot open libcuda, which comes with the driver: %w: %w", reasons[0], ErrNoDriver)
}

func openAt(path string) error {
	cpath := C.CString(path)
	defer C.free(unsafe.Pointer(cpath))
	if why := C.nmn_driver_open(cpath); why != nil {
		return errors.New(C.GoString(why))
	}
	return nil
}

// initialize starts the driver and checks its version. The version comes first: it can be asked of
// drivers that fail to start.
func initialize() error {
	version := cu.Version()
	if version > 0 && version < minimumDriver {
		return fmt.Errorf("cuda: the driver speaks CUDA %s, this program needs %s (driver 580 or newer, or cuda-compat for "+
			"13.0 on a datacentre card): %w",
			formatVersion(version), formatVersion(minimumDriver), ErrOldDriver)
	}
	code := C.nmn_driver_init()
	switch code {
	case C.CUDA_SUCCESS:
		return nil
	case C.CUDA_ERROR_NO_DEVICE:
		return newError("initialize the driver", int(code), ErrNoDevice)
	case C.CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
		return newError("initialize the driver (its kernel module and its library differ)", int(code), ErrOldDriver)
	}
	return newError("initialize the driver", int(code), nil)
}

// Available returns the number of devices, or why there is none: it wraps ErrNoDriver, ErrOldDriver or
// ErrNoDevice.
func Available() (devices int, err error) {
	if err := driver(); err != nil {
		return 0, err
	}
	n, err := cu.NumDevices()
	if err != nil {
		return 0, newError("count devices", codeOf(err), nil)
	}
	if n == 0 {
		return 0, fmt.Errorf("cuda: the driver sees no device (CUDA_VISIBLE_DEVICES is %q): %w",
			os.Getenv("CUDA_VISIBLE_DEVICES"), ErrNoDevice)
	}
	return n, nil
}

func formatVersion(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }
